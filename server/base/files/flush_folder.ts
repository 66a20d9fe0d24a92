/** Makes names in a folder durable: a file outlives a power cut once it and its name are flushed. Windows flushes no folders. */
export async function flushFolder(path: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  using folder = await Deno.open(path, { read: true });
  await folder.sync();
}
