import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildNpm } from "../../toolkit/build/build_npm.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The toolkit's package, installed into an empty project. */
export interface InstalledPackage {
  /** The project; `node_modules/.bin/relay` is the command. */
  readonly folder: string;
  /** The name of the packed file. */
  readonly tarball: string;
  readonly tarballBytes: number;
  readonly unpackedBytes: number;
}

/** How people install what they have built, and {@linkcode installPackage} does. */
export const INSTALL_COMMANDS = [
  "npm pack ./dist/npm",
  "npm install ./agent-relay-toolkit-*.tgz",
] as const;

/**
 * Builds and packs the package and installs it, with the libraries it names, into an empty project.
 * npm works offline with an empty cache, so that nothing comes but from the packed files.
 *
 * @param npm the program
 * @param folder an empty folder
 */
export async function installPackage(npm: string, folder: string): Promise<InstalledPackage> {
  const built = join(folder, "built");
  const packed = join(folder, "packed");
  const project = join(folder, "project");
  await buildNpm(ROOT, built);
  await Deno.mkdir(packed);
  await Deno.mkdir(project);
  const env = { npm_config_cache: join(folder, "cache"), npm_config_offline: "true" };
  const run = async (cwd: string, ...args: string[]) => {
    const { success, stdout, stderr } = await new Deno.Command(npm, { args, cwd, env }).output();
    if (!success) throw new Error(`npm ${args[0]} failed: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  };
  const sources = [built, ...await libraryFolders(built)];
  const tarballs: { filename: string; size: number; unpackedSize: number }[] = JSON.parse(
    await run(packed, "pack", ...sources, "--json", "--ignore-scripts"),
  );
  const { filename, size, unpackedSize } = tarballs[0]!;
  await Deno.writeTextFile(join(project, "package.json"), '{"private":true,"type":"module"}');
  const files = tarballs.map(({ filename }) => join(packed, filename));
  await run(project, "install", "--no-audit", "--no-fund", "--ignore-scripts", ...files);
  return { folder: project, tarball: filename, tarballBytes: size, unpackedBytes: unpackedSize };
}

/** Where Deno keeps the libraries that the package names, each in the version that it names. */
async function libraryFolders(built: string): Promise<string[]> {
  const { dependencies } = JSON.parse(await Deno.readTextFile(join(built, "package.json")));
  return await Promise.all(
    Object.entries(dependencies).map(([name, version]) => libraryFolder(name, version as string)),
  );
}

async function libraryFolder(name: string, version: string): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--quiet", "--json", `npm:${name}@${version}`],
    cwd: ROOT,
  }).output();
  const { npmPackages } = JSON.parse(new TextDecoder().decode(stdout));
  return npmPackages[`${name}@${version}`].localPath;
}
