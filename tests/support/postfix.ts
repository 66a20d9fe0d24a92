/** A postfix of Debian with a configuration, queue and log of its own. */
import { join } from "node:path";
import { delay } from "./pace.ts";

export interface Postfix extends AsyncDisposable {
  /** Its folder, which everybody may enter and which goes with it. */
  folder: string;
  /** @throws Error with what the program of postfix says when it fails */
  run(program: "sendmail" | "postqueue", args: string[], input?: Uint8Array): Promise<void>;
  log(): Promise<string>;
}

const SBIN = "/usr/sbin";
const SERVICES = `
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
retry unix - - n - - error
error unix - - n - - error
discard unix - - n - - discard
postlog unix-dgram n - n - 1 postlogd
scache unix - - n - 1 scache
showq unix n - n - - showq
`;

/**
 * Its master starts as root alone.
 * @param settings lines of main.cf, from what folder it has
 * @param services lines of master.cf beside those that a sender needs
 */
export async function startPostfix(
  settings: (folder: string) => string,
  services = "",
): Promise<Postfix> {
  const folder = await Deno.makeTempDir({ prefix: "relay-postfix-" });
  const config = join(folder, "config");
  for (const name of ["config", "queue", "data"]) await Deno.mkdir(join(folder, name));
  await Deno.writeTextFile(
    join(config, "main.cf"),
    `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/log
maillog_file_prefixes = ${folder}
mydestination =
inet_protocols = ipv4
${settings(folder)}
`,
  );
  await Deno.writeTextFile(join(config, "master.cf"), `${SERVICES}${services}\n`);
  await Deno.chmod(folder, 0o755);
  await run("chown", ["postfix", join(folder, "data")]);
  const master = await startMaster(config);
  return {
    folder,
    run: (program, args, input) =>
      run(`${SBIN}/${program}`, [program === "sendmail" ? "-C" : "-c", config, ...args], input),
    log: () => Deno.readTextFile(join(folder, "log")).catch(() => ""),
    async [Symbol.asyncDispose]() {
      await run(`${SBIN}/postfix`, ["-c", config, "stop"]);
      await master.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** A child of this process, so that the benchmark tells its CPU time from that of other programs. */
async function startMaster(config: string): Promise<Deno.ChildProcess> {
  const master = new Deno.Command(`${SBIN}/postfix`, {
    args: ["-c", config, "start-fg"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  for (;;) {
    const isRunning = run(`${SBIN}/postfix`, ["-c", config, "status"]);
    if (await isRunning.then(() => true, () => false)) return master;
    const ended = await Promise.race([master.status, delay(50)]);
    if (ended !== undefined) throw new Error(`postfix does not start: it ended with ${ended.code}`);
  }
}

async function run(program: string, args: string[], input?: Uint8Array): Promise<void> {
  const child = new Deno.Command(program, {
    args,
    stdin: input === undefined ? "null" : "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  if (input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(input);
    await writer.close();
  }
  const { success, stderr } = await child.output();
  if (!success) throw new Error(`${program} ${args}: ${new TextDecoder().decode(stderr)}`);
}
