/**
 * Sends mail by SMTP to the one configured next hop (RFC 5321), over one connection for each mail.
 */
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import { dnsCache } from "nodemailer/lib/shared";
import SMTPConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection";
import { isLoopback } from "../config/loopback.ts";
import type { SmtpConfig } from "../config/mail.ts";
import type { Handover, Mailer, MailOutcome, OutgoingMail, RefusalStage } from "./mailer.ts";

export interface SmtpMailerOptions {
  smtp: SmtpConfig;
  /** Name given with EHLO. */
  ehloName: string;
  /** PEM certificates that the next hop's certificate may be issued by, besides the system's. */
  caPem?: string;
  timing?: Partial<SmtpTiming>;
}

export interface SmtpTiming {
  /** From the look-up of the name to the end of STARTTLS. */
  connectMs: number;
  /** Greatest wait for a reply. */
  replyMs: number;
  /**
   * Greatest wait after the final dot: the longer, the fewer outcomes stay unknown (RFC 5321,
   * 4.5.3.2.6: 10 minutes).
   */
  finalReplyMs: number;
  /** For the reply to QUIT. */
  quitMs: number;
}

const TIMING: SmtpTiming = {
  connectMs: 20_000,
  replyMs: 60_000,
  finalReplyMs: 600_000,
  quitMs: 2_000,
};
/**
 * Open connections, including those that are being closed: next hops refuse more from one client.
 */
const MAX_CONNECTIONS = 8;

/** What nodemailer's errors carry. */
interface SmtpError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
}

/**
 * Makes a mailer for the next hop. TLS is required and its certificate checked. A loopback next hop
 * is the exception: STARTTLS is used if offered, and the certificate is not checked.
 */
export function createSmtpMailer(options: SmtpMailerOptions): Mailer {
  const timing = { ...TIMING, ...options.timing };
  const connectionOptions = optionsOf(options, timing);
  const closing = new Map<SMTPConnection, Promise<void>>();
  const waiting: (() => void)[] = [];
  let open = 0;

  async function takeConnection(): Promise<SMTPConnection> {
    if (open < MAX_CONNECTIONS) open++;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // giveBack() passes the connection on
    return new SMTPConnection(connectionOptions);
  }

  function giveBack(connection: SMTPConnection): void {
    closing.delete(connection);
    const next = waiting.shift();
    if (next === undefined) open--;
    else next();
  }

  /** Ends a connection with QUIT, and in any case within quitMs. */
  function leave(connection: SMTPConnection): Promise<void> {
    const socket = connection._socket;
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        connection.close();
        resolve();
      };
      const timer = setTimeout(end, timing.quitMs);
      if (!socket || socket.destroyed) return end();
      socket.once("close", end);
      connection.quit();
    });
  }

  return {
    async send(mail, handover) {
      const connection = await takeConnection();
      try {
        return await transact(connection, options.smtp, timing, mail, handover);
      } finally {
        closing.set(connection, leave(connection).finally(() => giveBack(connection)));
      }
    },
    async close() {
      for (const connection of closing.keys()) connection.close();
      await Promise.all(closing.values());
    },
  };
}

function optionsOf(
  { smtp, ehloName, caPem }: SmtpMailerOptions,
  timing: SmtpTiming,
): SMTPConnectionOptions {
  const loopback = isLoopback(smtp.host);
  connectByName(smtp.host);
  return {
    host: smtp.host,
    port: smtp.port,
    secure: smtp.secure,
    requireTLS: !smtp.secure && !loopback,
    name: ehloName,
    tls: {
      rejectUnauthorized: !loopback,
      minVersion: "TLSv1.2",
      ...(caPem === undefined ? {} : { ca: [...rootCertificates, caPem] }),
    },
    dnsTimeout: timing.connectMs,
    connectionTimeout: timing.connectMs,
    greetingTimeout: timing.connectMs,
    socketTimeout: timing.replyMs,
    // A reply to QUIT, or none in time, is the end: nothing more is waited for.
    socketCloseTimeout: 0,
    logger: false,
  };
}

/**
 * Makes the library connect to a next hop by its name, since this process may reach only that name.
 * By itself the library would ask name servers and connect to addresses. A name that its cache
 * gives as its own address is passed to node:net unchanged.
 */
function connectByName(host: string): void {
  if (isIP(host) === 0) dnsCache.set(host, { value: { addresses: [host] }, expires: undefined });
}

async function transact(
  connection: SMTPConnection,
  { user, password }: SmtpConfig,
  timing: SmtpTiming,
  mail: OutgoingMail,
  { beforeContent, signal }: Handover,
): Promise<MailOutcome> {
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  connection.on("error", broken.reject);
  const onAbort = () => {
    broken.reject(new Error("given up"));
    connection.close();
  };
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });

  /** Settles once beforeContent has settled, if it was called. */
  let asked: Promise<void> = Promise.resolve();
  let denied: { error: unknown } | null = null;
  /** True from when the final dot may have been sent. */
  let whole = false;
  async function* content(): AsyncGenerator<Uint8Array> {
    asked = beforeContent().catch((error) => void (denied = { error }));
    await asked;
    if (denied !== null) throw new Error("withdrawn before the content");
    yield mail.content;
    whole = true;
    if (connection._socket) connection._socket.setTimeout(timing.finalReplyMs);
  }

  try {
    await step(broken.promise, (done) => connection.connect(done));
    if (user !== undefined) {
      await step(broken.promise, (done) => connection.login({ user, pass: password }, done));
    }
    const envelope = { from: mail.from, to: [mail.to], size: mail.content.length };
    // Nothing is read from the stream before the next hop has answered DATA with 354.
    const stream = Readable.from(content(), { objectMode: false });
    await step(broken.promise, (done) => connection.send(envelope, stream, done));
    return { result: "sent", reason: "250 at DATA" };
  } catch (failure) {
    await asked;
    const withdrawn = denied as { error: unknown } | null;
    if (withdrawn !== null) throw withdrawn.error;
    return outcomeOf(failure as SmtpError, whole);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** One call of the connection; also rejects when the connection breaks meanwhile. */
function step(
  broken: Promise<never>,
  call: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return Promise.race([
    broken,
    new Promise<void>((resolve, reject) => call((error) => error ? reject(error) : resolve())),
  ]);
}

function outcomeOf({ code, command, responseCode }: SmtpError, whole: boolean): MailOutcome {
  const at = command === undefined || command === "API" ? "" : ` at ${command}`;
  const reason = `${responseCode ?? code ?? "given up"}${at}`;
  if (responseCode === undefined && whole) return { result: "unknown", reason };
  const permanent = responseCode !== undefined && responseCode >= 500;
  return { result: "refused", stage: stageOf(command), permanent, reason };
}

function stageOf(command: string | undefined): RefusalStage {
  if (command === "MAIL FROM") return "sender";
  if (command === "RCPT TO") return "recipient";
  return command === "DATA" ? "content" : "connection";
}
