/** exim4 as the sender's mail server: what is given to it goes to a relay's SMTP server. */
import { join } from "node:path";
import { pathOfProgram } from "./part.ts";

export interface EximSender extends AsyncDisposable {
  /** Hands a mail in as programs of that machine do. @returns the log of its one delivery */
  submit(from: string, to: readonly string[], raw: Uint8Array<ArrayBuffer>): Promise<string>;
}

const NOBODY = "65534";

/** @param exim the program, which has not to be installed */
export async function createEximSender(
  { exim, port }: { exim: string; port: number },
): Promise<EximSender> {
  const folder = await Deno.makeTempDir({ prefix: "relay-exim-sender-" });
  await Deno.chmod(folder, 0o777);
  const config = join(folder, "exim.conf");
  const log = join(folder, "mainlog");
  const isRoot = Deno.uid() === 0;
  const program = await pathOfProgram(exim);
  // Its reports of what was refused stay in the queue, so that no process outlives a submission.
  await Deno.writeTextFile(
    config,
    `
primary_hostname = mx.else.test
exim_path = ${program}
exim_user = ${isRoot ? NOBODY : Deno.uid()}
exim_group = ${isRoot ? NOBODY : Deno.gid()}
deliver_drop_privilege
keep_environment =
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
local_from_check = false
queue_only
begin routers
relay:
  driver = manualroute
  domains = agents.test
  route_data = 127.0.0.1
  self = send
  transport = relay_smtp
begin transports
relay_smtp:
  driver = smtp
  port = ${port}
  allow_localhost
begin retry
* * F,2h,1m
`,
  );
  return {
    async submit(from, to, raw) {
      const before = (await readLog(log)).length;
      const args = ["-C", config, "-odi", "-i", "-f", from, "--", ...to];
      const drop = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", program];
      const child = new Deno.Command(isRoot ? "setpriv" : program, {
        args: isRoot ? [...drop, ...args] : args,
        stdin: "piped",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(raw);
      await writer.close();
      const { success, stderr } = await child.output();
      if (!success) throw new Error(`exim4: ${new TextDecoder().decode(stderr)}`);
      return (await readLog(log)).slice(before);
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const readLog = (path: string) => Deno.readTextFile(path).catch(() => "");
