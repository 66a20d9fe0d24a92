/** A real SMTP server on loopback that keeps the mails it receives. */
import type { AddressInfo } from "node:net";
import { Buffer } from "node:buffer";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { delay } from "./pace.ts";

/** A mail as it arrived. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** The message (RFC 5322). */
  content: Buffer;
  tls: boolean;
  /** Name given with EHLO. */
  ehlo: string;
  user: string | undefined;
}

/** The stage at which a server refuses, and its reply. */
export interface SmtpRefusal {
  at: "greeting" | "sender" | "recipient" | "content";
  code: number;
}

export interface TestSmtpServer extends AsyncDisposable {
  port: number;
  /** smtp://127.0.0.1:port */
  url: string;
  received: ReceivedMail[];
  /** Refuses every transaction from now on; null accepts again. */
  refuse(refusal: SmtpRefusal | null): void;
  /** Says nothing to RCPT from now on, until released. */
  holdRecipients(): { reached: Promise<void>; release(): void };
  /** Transactions begun, refused ones included. */
  transactions(): number;
  /** Resolves when the next mail has arrived. */
  next(): Promise<ReceivedMail>;
  stop(): Promise<void>;
}

/** Listens on 127.0.0.1 until stopped; without TLS unless the options say otherwise. */
export async function startSmtpServer(
  options: SMTPServerOptions & { port?: number } = {},
): Promise<TestSmtpServer> {
  const received: ReceivedMail[] = [];
  const awaited: ((mail: ReceivedMail) => void)[] = [];
  let refusal: SmtpRefusal | null = null;
  let held: { reached(): void; released: Promise<void> } | null = null;
  let transactions = 0;
  const answer = (at: SmtpRefusal["at"], done: (error?: Error | null) => void) => {
    if (refusal?.at !== at) return done();
    done(Object.assign(new Error("refused by the test"), { responseCode: refusal.code }));
  };
  const server = new SMTPServer({
    disabledCommands: options.secure || options.key ? [] : ["STARTTLS", "AUTH"],
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 50,
    logger: false,
    onConnect: (_session, done) => answer("greeting", done),
    onMailFrom(_address, _session, done) {
      transactions++;
      answer("sender", done);
    },
    async onRcptTo(_address, _session, done) {
      held?.reached();
      await held?.released;
      answer("recipient", done);
    },
    onData(stream, session, done) {
      const chunks: Uint8Array[] = [];
      stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      stream.on("end", () => {
        if (refusal?.at === "content") return answer("content", done);
        const { mailFrom, rcptTo } = session.envelope;
        const mail: ReceivedMail = {
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          content: Buffer.concat(chunks),
          tls: session.secure,
          ehlo: session.hostNameAppearsAs || "",
          user: typeof session.user === "string" ? session.user : undefined,
        };
        received.push(mail);
        done();
        for (const resolve of awaited.splice(0)) resolve(mail);
      });
    },
    ...options,
  });
  server.on("error", () => {}); // clients that disappear
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  let stopping: Promise<void> | undefined;
  const stop = () => stopping ??= closeServer(server);
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    received,
    refuse: (next) => void (refusal = next),
    holdRecipients() {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = { reached: reached.resolve, released: released.promise };
      return {
        reached: reached.promise,
        release: () => {
          held = null;
          released.resolve();
        },
      };
    },
    transactions: () => transactions,
    next: () => new Promise((resolve) => awaited.push(resolve)),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * Closes the server and waits for its connections. node:net of Deno 2.5 miscounts connections: a
 * server reports too early that it has closed, or never does. The timer of smtp-server that ends
 * the wait then does not keep the event loop alive.
 */
async function closeServer(server: SMTPServer): Promise<void> {
  let isClosed = false;
  server.close(() => isClosed = true);
  do await delay(1); while (!isClosed || server.connections.size > 0);
}

/** A mail as its reader sees it. */
export function parseMail({ content }: ReceivedMail): Promise<Email> {
  return PostalMime.parse(content);
}
