/** One connection to the next hop (RFC 5321), which may carry several mails, one after the other. */
import { Readable } from "node:stream";
import SMTPConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection";
import type { SmtpConfig } from "../config/mail_config.ts";
import type { Handover, MailOutcome, OutgoingMail, RefusalStage } from "./mailer.ts";
import { parseSmtpReply } from "./smtp_reply.ts";

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
  /** For all of one mail, however slowly the other side goes on. */
  wholeMs: number;
  /** For the reply to QUIT. */
  quitMs: number;
  /** How long a connection waits for the next mail. */
  idleMs: number;
}

/** What nodemailer's errors carry. */
interface SmtpError extends Error {
  code?: string;
  command?: string;
  /** The reply, as it came. */
  response?: string;
}

/** Bytes handed to the library at a time: it looks at each of them on this thread. */
const CHUNK_BYTES = 64 * 1024;

export class SmtpSession {
  readonly #connection: SMTPConnection;
  readonly #login: SmtpConfig;
  readonly #timing: SmtpTiming;
  #isOpen = false;
  #isOver = false;
  #isReusable = false;
  #onBroken: (error: Error) => void = () => {};
  /** Called when the other side ends a connection that waits. */
  onEnd: () => void = () => {};
  /** Mails that it carried or was refused. */
  transactions = 0;
  /** Whether the content of the last mail was begun. */
  isContentBegun = false;

  constructor(options: SMTPConnectionOptions, login: SmtpConfig, timing: SmtpTiming) {
    this.#login = login;
    this.#timing = timing;
    this.#connection = new SMTPConnection(options);
    this.#connection.on("error", (error: Error) => {
      this.#isOver = true;
      this.#onBroken(error);
    });
    this.#connection.on("end", () => {
      this.#isOver = true;
      // Right after this the library tells those who wait for a reply, with its own reason.
      setImmediate(() => this.#onBroken(new Error("the connection has ended")));
      this.onEnd();
    });
  }

  /** Whether it may carry another mail. */
  get isReusable(): boolean {
    return this.#isReusable && !this.#isOver;
  }

  /** One mail; connects and logs in before the first. @throws what beforeContent throws */
  async send(mail: OutgoingMail, { beforeContent, signal }: Handover): Promise<MailOutcome> {
    this.#isReusable = false;
    this.isContentBegun = false;
    /** Settles once beforeContent has settled, if it was called. */
    let asked: Promise<void> = Promise.resolve();
    let denied: { error: unknown } | null = null;
    /** True from when the final dot may have been sent. */
    let isWhole = false;
    const ask = async () => {
      this.isContentBegun = true;
      asked = beforeContent().catch((error) => void (denied = { error }));
      await asked;
      if (denied !== null) throw new Error("withdrawn before the content");
    };
    const onWhole = () => {
      isWhole = true;
      this.#wait(Math.min(this.#timing.finalReplyMs, mail.finalReplyMs ?? Infinity));
    };
    try {
      const response = await this.#watched(signal, async (step) => {
        await this.#prepare(step);
        // Nothing is read from the stream before the next hop has answered DATA with 354.
        const stream = Readable.from(contentOf(mail, ask, onWhole), { objectMode: false });
        return await this.#transact(step, mail, stream);
      });
      const reply = parseSmtpReply(response);
      // A reply before the end is about something else than the whole mail.
      if (!isWhole) return { result: "unknown", reason: "reply before the end at DATA" };
      this.#isReusable = true;
      return { result: "sent", reason: `${reply?.code ?? 250} at DATA`, reply };
    } catch (failure) {
      await asked;
      const withdrawn = denied as { error: unknown } | null;
      if (withdrawn !== null) throw withdrawn.error;
      return this.#outcomeOf(failure as SmtpError, isWhole);
    }
  }

  /** Ends the connection with QUIT, and in any case within quitMs. */
  leave(): Promise<void> {
    const connection = this.#connection;
    const socket = connection._socket;
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        connection.close();
        resolve();
      };
      const timer = setTimeout(end, this.#timing.quitMs);
      if (this.#isOver || !socket || socket.destroyed) return end();
      socket.once("close", end);
      connection.quit();
    });
  }

  close(): void {
    this.#connection.close();
  }

  /** Does something with the connection that ends when it breaks, is given up, or takes too long. */
  async #watched<T>(signal: AbortSignal, work: (step: Step) => Promise<T>): Promise<T> {
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => {});
    this.#onBroken = broken.reject;
    const giveUp = () => {
      broken.reject(new Error("given up"));
      this.close();
    };
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    const timer = setTimeout(() => {
      broken.reject(Object.assign(new Error("too slow"), { code: "ETIMEDOUT" }));
      this.close();
    }, this.#timing.wholeMs);
    const step: Step = (call) =>
      Promise.race([
        broken.promise,
        new Promise<never>((resolve, reject) =>
          call((error, result) => error ? reject(error) : resolve(result as never))
        ),
      ]);
    try {
      return await work(step);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      this.#onBroken = () => {};
    }
  }

  /** Connects and logs in, or makes sure that the connection is still there and knows of no mail. */
  async #prepare(step: Step): Promise<void> {
    const connection = this.#connection;
    if (this.#isOpen) {
      this.#wait(this.#timing.replyMs);
      await step((done) => connection.reset(done));
      return;
    }
    await step((done) => connection.connect(done));
    const { user, password } = this.#login;
    if (user !== undefined) await step((done) => connection.login({ user, pass: password }, done));
    this.#isOpen = true;
  }

  async #transact(step: Step, mail: OutgoingMail, stream: Readable): Promise<string> {
    const connection = this.#connection;
    this.transactions++;
    const sizeBytes = mail.content.length;
    // The library refuses by itself what is larger than the server says that it takes. The server is
    // to say so, with its own codes: it is not told the size before.
    const { _maxAllowedSize: taken } = connection as unknown as { _maxAllowedSize?: number };
    const size = taken && sizeBytes > taken ? undefined : sizeBytes;
    const envelope = { from: mail.from, to: [mail.to], size };
    const { response } = await step<{ response: string }>((done) =>
      connection.send(envelope, stream, done)
    );
    return response;
  }

  #wait(ms: number): void {
    if (this.#connection._socket) this.#connection._socket.setTimeout(ms);
  }

  #outcomeOf({ code, command, response }: SmtpError, isWhole: boolean): MailOutcome {
    const reply = response === undefined ? null : parseSmtpReply(response);
    const at = command === undefined || command === "API" ? "" : ` at ${command}`;
    const reason = `${reply?.code ?? code ?? "given up"}${at}`;
    const isRefusal = reply !== null && reply.code >= 400 && reply.code < 600;
    if (isWhole && !isRefusal) return { result: "unknown", reason };
    const isThere = isRefusal && reply.code !== 421;
    // A refusal of the content may have come before its end: what the server says of the end would
    // then be taken for the answer to the next command.
    this.#isReusable = isThere && this.#isOpen && !this.isContentBegun;
    const stage = stageOf(command);
    const permanent = isRefusal && reply.code >= 500;
    return { result: "refused", stage, permanent, reason, reply, isReached: this.#isOpen };
  }
}

/** One call of the library; also rejects when the connection breaks meanwhile. */
type Step = <T = void>(
  call: (done: (error?: Error | null, result?: unknown) => void) => void,
) => Promise<T>;

async function* contentOf(
  { content }: OutgoingMail,
  ask: () => Promise<void>,
  onWhole: () => void,
): AsyncGenerator<Uint8Array> {
  await ask();
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    yield content.subarray(at, at + CHUNK_BYTES);
    // A reply that has come is read before the end is sent, so it is known to be early.
    if (content.length > CHUNK_BYTES) await new Promise((resolve) => setTimeout(resolve));
  }
  onWhole();
}

function stageOf(command: string | undefined): RefusalStage {
  if (command === "MAIL FROM") return "sender";
  if (command === "RCPT TO") return "recipient";
  return command === "DATA" ? "content" : "connection";
}
