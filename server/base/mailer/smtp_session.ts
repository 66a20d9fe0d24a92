/** One connection to the next hop (RFC 5321), which may carry several mails, one after the other. */
import type { Socket } from "node:net";
import SMTPConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection";
import type { SmtpConfig } from "../config/mail_config.ts";
import type { Handover, MailOutcome, OutgoingMail, RefusalStage } from "./mailer.ts";
import { SmtpDialogue, type SmtpFailure, smtpFailure, type Within } from "./smtp_dialogue.ts";
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

/** What the library keeps to itself, and is taken from it once a connection is made. */
interface Inner {
  _socket: Socket;
  _onSocketData(chunk: unknown): void;
  _supportedExtensions: string[];
  _maxAllowedSize: number;
}

export class SmtpSession {
  readonly #connection: SMTPConnection;
  readonly #login: SmtpConfig;
  readonly #timing: SmtpTiming;
  /** Null until it is connected and logged in. */
  #dialogue: SmtpDialogue | null = null;
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
      const ended = { code: "ECONNECTION", command: "CONN" };
      setImmediate(() => this.#onBroken(smtpFailure("the connection has ended", ended)));
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
    /** What beforeContent threw. */
    let denied: { error: unknown } | null = null;
    /** True from when the final dot may have been sent. */
    let isWhole = false;
    const onWhole = () => {
      isWhole = true;
      this.#wait(Math.min(this.#timing.finalReplyMs, mail.finalReplyMs ?? Infinity));
    };
    try {
      const response = await this.#watched(signal, async (within) => {
        const dialogue = await this.#prepare(within);
        await this.#begin(dialogue, mail, within);
        this.isContentBegun = true;
        await beforeContent().catch((error) => void (denied = { error }));
        if (denied !== null) throw new Error("withdrawn before the content");
        return await dialogue.send(mail.content, within, onWhole);
      });
      const reply = parseSmtpReply(response);
      // A reply before the end is about something else than the whole mail.
      if (!isWhole) return { result: "unknown", reason: "reply before the end at DATA" };
      this.#isReusable = true;
      return { result: "sent", reason: `${reply?.code ?? 250} at DATA`, reply };
    } catch (failure) {
      const withdrawn = denied as { error: unknown } | null;
      if (withdrawn !== null) throw withdrawn.error;
      return this.#outcomeOf(failure as SmtpFailure, isWhole);
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
      if (this.#dialogue === null) connection.quit();
      else this.#dialogue.quit().then(end);
    });
  }

  close(): void {
    this.#connection.close();
  }

  /** Does something with the connection that ends when it breaks, is given up, or takes too long. */
  async #watched<T>(signal: AbortSignal, work: (within: Within) => Promise<T>): Promise<T> {
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
    try {
      return await work((what) => Promise.race([broken.promise, what]));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      this.#onBroken = () => {};
    }
  }

  /** Connects and logs in, or makes sure that the connection is still there and knows of no mail. */
  async #prepare(within: Within): Promise<SmtpDialogue> {
    if (this.#dialogue !== null) {
      this.#wait(this.#timing.replyMs);
      await this.#dialogue.reset(within);
      return this.#dialogue;
    }
    const connection = this.#connection;
    await within(called((done) => connection.connect(done)));
    const { user, password } = this.#login;
    if (user !== undefined) {
      await within(called((done) => connection.login({ user, pass: password }, done)));
    }
    const { _socket: socket, _onSocketData, _supportedExtensions } = this.#inner;
    socket.removeListener("data", _onSocketData);
    return this.#dialogue = new SmtpDialogue(socket, _supportedExtensions, (failure) => {
      this.#isOver = true;
      this.close();
      this.#onBroken(failure);
    });
  }

  async #begin(dialogue: SmtpDialogue, mail: OutgoingMail, within: Within): Promise<void> {
    this.transactions++;
    const sizeBytes = mail.content.length;
    // A server that would refuse it by its size is to say so to the content, with its own codes.
    const { _maxAllowedSize: taken } = this.#inner;
    const size = taken && sizeBytes > taken ? {} : { sizeBytes };
    await dialogue.begin({ from: mail.from, to: mail.to, ...size }, within);
  }

  get #inner(): Inner {
    return this.#connection as unknown as Inner;
  }

  #wait(ms: number): void {
    if (this.#connection._socket) this.#connection._socket.setTimeout(ms);
  }

  #outcomeOf({ code, command, response }: SmtpFailure, isWhole: boolean): MailOutcome {
    const reply = response === undefined ? null : parseSmtpReply(response);
    const at = command === undefined || command === "API" ? "" : ` at ${command}`;
    const reason = `${reply?.code ?? code ?? "given up"}${at}`;
    const isRefusal = reply !== null && reply.code >= 400 && reply.code < 600;
    if (isWhole && !isRefusal) return { result: "unknown", reason };
    const isThere = isRefusal && reply.code !== 421;
    // A refusal of the content may have come before its end: what the server says of the end would
    // then be taken for the answer to the next command.
    this.#isReusable = isThere && this.#dialogue !== null && !this.isContentBegun;
    const stage = stageOf(command);
    const permanent = isRefusal && reply.code >= 500;
    return {
      result: "refused",
      stage,
      permanent,
      reason,
      reply,
      isReached: this.#dialogue !== null,
    };
  }
}

/** One call of the library. */
function called(call: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => call((error) => error ? reject(error) : resolve()));
}

function stageOf(command: string | undefined): RefusalStage {
  if (command === "MAIL FROM") return "sender";
  if (command === "RCPT TO") return "recipient";
  return command === "DATA" ? "content" : "connection";
}
