/** The command line as a program that any user of the machine can run, as mail servers run theirs. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PACKAGES = ["@noble", "@scure", "canonicalize"];

/**
 * Puts the command line into a folder that all may read, without what only this user can: the runtime
 * and its cache may be in a home folder.
 * @returns path of the program `relay`
 */
export async function relayForNobody(folder: string): Promise<string> {
  const cache = join(folder, "cache");
  const npm = join(await denoDir(), "npm");
  for await (const { name: registry } of Deno.readDir(npm)) {
    const to = join(cache, "npm", registry);
    await Deno.mkdir(to, { recursive: true });
    for (const name of PACKAGES) await copy(join(npm, registry, name), join(to, name));
  }
  for (const name of ["toolkit", "wordlists", "deno.json"]) {
    await copy(join(ROOT, name), join(folder, name));
  }
  const runtime = join(folder, "runtime");
  await copy(Deno.execPath(), runtime);
  const program = join(folder, "relay");
  await Deno.writeTextFile(
    program,
    `#!/bin/sh
export DENO_DIR='${cache}' DENO_NO_UPDATE_CHECK=1
exec '${runtime}' run --quiet --no-lock --cached-only --no-prompt --config='${folder}/deno.json' \\
  --allow-net --allow-env --allow-read '${folder}/toolkit/cli/main.ts' "$@"
`,
  );
  await run("chmod", ["-R", "a+rwX", folder]);
  await run("chmod", ["a+rx", program, runtime]);
  return program;
}

async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
    cwd: ROOT,
    stderr: "null",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

async function copy(from: string, to: string): Promise<void> {
  await run("cp", ["-RL", from, to]);
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}
