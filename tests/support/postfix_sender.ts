/** Postfix of Debian as the sender's mail server: what is given to its sendmail goes to a relay's SMTP server. */
import { startPostfix } from "./postfix.ts";

export interface PostfixSender extends AsyncDisposable {
  /** Hands a mail in as programs of that machine do; it goes into the queue. */
  submit(from: string, to: readonly string[], raw: Uint8Array | string): Promise<void>;
  log(): Promise<string>;
  /** Tries at once what waits in the queue. */
  flush(): Promise<void>;
}

/** Its master starts as root alone. */
export async function startPostfixSender(
  { port, settings = "" }: { port: number; settings?: string },
): Promise<PostfixSender> {
  const postfix = await startPostfix(() => `
myhostname = mx.else.test
relayhost = [127.0.0.1]:${port}
smtp_host_lookup = native
smtp_tls_security_level = may
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
${settings}
`);
  return {
    async submit(from, to, raw) {
      const bytes = typeof raw === "string" ? new TextEncoder().encode(raw) : raw;
      await postfix.run("sendmail", ["-i", "-f", from, "--", ...to], bytes);
    },
    log: () => postfix.log(),
    flush: () => postfix.run("postqueue", ["-f"]),
    [Symbol.asyncDispose]: () => postfix[Symbol.asyncDispose](),
  };
}
