/** Postfix of Debian as the sender's mail server: what is given to its sendmail goes to a relay's SMTP server. */
import { join } from "node:path";

export interface PostfixSender extends AsyncDisposable {
  /** Hands a mail in as programs of that machine do; it goes into the queue. */
  submit(from: string, to: readonly string[], raw: Uint8Array | string): Promise<void>;
  log(): Promise<string>;
  /** Tries at once what waits in the queue. */
  flush(): Promise<void>;
}

const SBIN = "/usr/sbin";

/** Its master starts as root alone. */
export async function startPostfixSender(
  { port, settings = "" }: { port: number; settings?: string },
): Promise<PostfixSender> {
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
myhostname = mx.else.test
mydestination =
inet_protocols = ipv4
relayhost = [127.0.0.1]:${port}
smtp_host_lookup = native
smtp_tls_security_level = may
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
${settings}
`,
  );
  await Deno.writeTextFile(
    join(config, "master.cf"),
    `
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
`,
  );
  await Deno.chmod(folder, 0o755);
  await run("chown", ["postfix", join(folder, "data")]);
  await run(`${SBIN}/postfix`, ["-c", config, "start"]);
  return {
    async submit(from, to, raw) {
      const bytes = typeof raw === "string" ? new TextEncoder().encode(raw) : raw;
      await run(`${SBIN}/sendmail`, ["-C", config, "-i", "-f", from, "--", ...to], bytes);
    },
    log: () => Deno.readTextFile(join(folder, "log")).catch(() => ""),
    flush: () => run(`${SBIN}/postqueue`, ["-c", config, "-f"]),
    async [Symbol.asyncDispose]() {
      await run(`${SBIN}/postfix`, ["-c", config, "stop"]);
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** @throws Error with what the program says when it fails */
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
