/**
 * Programs of other projects that tests run under Node.js. They are too large to install for
 * everybody. CI installs them into a folder of their own; other machines skip their tests by name.
 */
import { dirname, join } from "node:path";
import { findPart, partOrSkip, type PartTest } from "./part.ts";

export interface NpmProgram {
  name: string;
  version: string;
  /** Path of the script inside its package. */
  entry: string;
}

/** What a test is given: runs the program. */
export interface ProgramRun {
  (args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

/** Where the programs are kept between runs. */
function programFolder({ name, version }: NpmProgram): string {
  const temporary = Deno.env.get("TMPDIR") ?? "/tmp";
  return join(temporary, "relay-test-programs", `${name.replaceAll(/[@/]/g, "_")}-${version}`);
}

/** Path of the program's script; null when it is not installed, unless CI installs it now. */
async function bring(program: NpmProgram): Promise<string | null> {
  const folder = programFolder(program);
  const entry = join(folder, "node_modules", program.name, program.entry);
  const isThere = await Deno.stat(entry).then(() => true, () => false);
  if (isThere) return entry;
  if (Deno.env.get("CI") !== "true" || findPart("node22") === null) return null;
  await Deno.mkdir(dirname(folder), { recursive: true });
  const draft = await Deno.makeTempDir({ dir: dirname(folder) });
  const dependencies = { [program.name]: program.version };
  await Deno.writeTextFile(join(draft, "package.json"), JSON.stringify({ dependencies }));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--no-lock", "--node-modules-dir=auto"],
    cwd: draft,
    stderr: "piped",
  }).output();
  if (!success) {
    throw new Error(`cannot bring ${program.name}: ${new TextDecoder().decode(stderr)}`);
  }
  // The first of several test processes succeeds.
  await Deno.rename(draft, folder).catch(() => Deno.remove(draft, { recursive: true }));
  return entry;
}

/** Registers tests of an npm program; if it or Node.js 22 is missing, they are skipped by name. */
export async function programOrSkip(
  program: NpmProgram,
  tests: Readonly<Record<string, (run: ProgramRun) => Promise<void>>>,
): Promise<void> {
  const label = `${program.name} ${program.version}`;
  const entry = await bring(program);
  for (const [name, test] of Object.entries(tests)) {
    if (entry === null && findPart("node22") !== null) {
      Deno.test({ name: `${name} (needs ${label}; CI=true brings it)`, ignore: true, fn() {} });
      continue;
    }
    const withNode: PartTest = (node) => test((args) => runNode(node, [entry!, ...args]));
    partOrSkip("node22", `${name} (${label})`, withNode);
  }
}

async function runNode(node: string, args: string[]): ReturnType<ProgramRun> {
  const { code, stdout, stderr } = await new Deno.Command(node, {
    args,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
