/**
 * Peers from npm under Node.js. Their packages are no dependency of the project: they are installed, by exact
 * version, into the kept folder.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Context, NotMeasured } from "../row.ts";
import { type Child, startProgram } from "../servers/child.ts";

export interface NodePackages {
  /** Of their folder, and as people are told of them. */
  name: string;
  /** With better-sqlite3 among them, whose compiled part is tried. */
  versions: Readonly<Record<string, string>>;
}

/**
 * Starts a script of this folder under Node.js: its arguments are the folder of its packages and these.
 * @throws NotMeasured where there is no Node.js, or the packages cannot be installed
 */
export async function startNodePeer(
  packages: NodePackages,
  script: string,
  args: readonly string[],
  context: Context,
): Promise<Child<{ port: number }>> {
  const folder = await installPackages(packages, context);
  return await startProgram("node", [
    fileURLToPath(new URL(script, import.meta.url)),
    folder,
    ...args,
  ]);
}

/**
 * @returns the folder of the packages, which is kept
 * @throws NotMeasured where there is no Node.js, or they cannot be installed
 */
export async function installPackages(
  { name, versions }: NodePackages,
  { keptFolder, installs, progress }: Pick<Context, "keptFolder" | "installs" | "progress">,
): Promise<string> {
  const folder = join(keptFolder, name);
  const manifest = JSON.stringify({ private: true, dependencies: versions });
  const stamp = join(folder, "installed");
  if (await Deno.readTextFile(stamp).catch(() => "") === manifest) return folder;
  if (!installs) throw new NotMeasured(`--quick does not install ${name}`);
  progress(`installing ${name}; its store may have to be compiled, which takes a minute`);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "package.json"), manifest);

  async function orNotMeasured(program: string, args: string[]): Promise<void> {
    try {
      const { success, stderr } = await new Deno.Command(program, { args, cwd: folder }).output();
      if (success) return;
      const said = new TextDecoder().decode(stderr).trim().split("\n").at(-1);
      throw new NotMeasured(`${name} does not install: ${program}: ${said}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new NotMeasured(`${name} needs Node.js and npm: there is no ${program}`);
    }
  }
  await orNotMeasured("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"]);
  // An npm that runs no install scripts leaves the store without its compiled part.
  await orNotMeasured("node", ["-e", 'new (require("better-sqlite3"))(":memory:").close()']);
  await Deno.writeTextFile(stamp, manifest);
  return folder;
}
