/**
 * The memory that a process holds, in MiB.
 * @returns undefined when it has ended
 * @throws Error where the system has no /proc
 */
export async function residentMiB(pid: number): Promise<number | undefined> {
  if (Deno.build.os !== "linux") throw new Error("memory is read from /proc, which is Linux's");
  // Not by Deno itself, which reads /proc for nobody but those who are allowed everything.
  const { stdout } = await new Deno.Command("cat", {
    args: [`/proc/${pid}/status`],
    stderr: "null",
  }).output();
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(new TextDecoder().decode(stdout))?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}
