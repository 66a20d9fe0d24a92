import { dirname, join } from "node:path";

/**
 * Runs `use` over a folder with these files, which is gone after it.
 * @param files texts by their paths
 */
export async function withTemporaryProject(
  files: Readonly<Record<string, string>>,
  use: (root: string) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(root, path)), { recursive: true });
      await Deno.writeTextFile(join(root, path), text);
    }
    await use(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}
