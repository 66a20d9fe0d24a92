/** What packages bring of corpora, fetched by their ordinary client for a test that runs long. */
import { join } from "node:path";
import { findPart } from "./part.ts";

export interface CorpusPackage {
  /** As its registry names it. */
  name: string;
  /** Exact. */
  version: string;
  /** Of the archive, hex. */
  sha256: string;
}

/** Hands a test the files of a Python package's source distribution, in a folder that is gone afterwards. */
export function withSources(
  { name, version, sha256 }: CorpusPackage,
  use: (folder: string) => void | Promise<void>,
): Promise<void> {
  const python = findPart("python3");
  if (python === null) throw new Error("a corpus comes by pip: install Python 3");
  return withFolder(async (folder) => {
    const wanted = join(folder, "wanted.txt");
    await Deno.writeTextFile(wanted, `${name}==${version} --hash=sha256:${sha256}\n`);
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"];
    const archives = join(folder, "archives");
    await runProgram(python, [...pip, "--dest", archives, "--requirement", wanted]);
    const [archive] = [...Deno.readDirSync(archives)].map(({ name }) => join(archives, name));
    const sources = join(folder, "sources");
    await Deno.mkdir(sources);
    await runProgram("tar", ["-xzf", archive!, "-C", sources, "--strip-components=1"]);
    await use(sources);
  });
}

/** The same of a crate; nothing of it is built. */
export function withCrate(
  { name, version, sha256 }: CorpusPackage,
  use: (folder: string) => void | Promise<void>,
): Promise<void> {
  return withFolder(async (folder) => {
    const manifest = join(folder, "Cargo.toml");
    await Deno.mkdir(join(folder, "src"));
    await Deno.writeTextFile(join(folder, "src", "lib.rs"), "");
    await Deno.writeTextFile(
      manifest,
      `[package]\nname = "corpus"\nedition = "2021"\n[dependencies]\n${name} = "=${version}"\n`,
    );
    const vendored = join(folder, "vendored");
    await runProgram("cargo", ["vendor", "--quiet", "--manifest-path", manifest, vendored]);
    const sources = join(vendored, name);
    const checksum = JSON.parse(await Deno.readTextFile(join(sources, ".cargo-checksum.json")));
    if (checksum.package !== sha256) {
      throw new Error(`${name} ${version} is ${checksum.package}, not ${sha256}`);
    }
    await use(sources);
  });
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
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
