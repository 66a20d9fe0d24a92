import { Buffer } from "node:buffer";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";

/** Which mail server is called, and what for. */
export interface MailCall {
  readonly host: string;
  readonly port: number;
  /** What the caller calls itself. */
  readonly helo: string;
  /** For the whole of it. */
  readonly timeoutMs: number;
  /** Handed over; without one only what it offers is asked. */
  readonly mail?: {
    readonly from: string;
    readonly to: string;
    /** Lines that end in CRLF (RFC 5322). */
    readonly message: string;
  };
}

export interface MailReply {
  readonly code: number;
  /** As it came, a line behind the other. */
  readonly text: string;
}

/** What came of a call that was answered. */
export interface MailCalled {
  readonly greeting: string;
  /** What it offers before TLS, in capitals, such as `STARTTLS` and `SIZE`. */
  readonly offers: readonly string[];
  /** Null where it offers none. */
  readonly tls: { readonly version: string; readonly distrust: string | null } | null;
  /** The last reply to what was asked: to the message, or to what was refused before it. */
  readonly answered: { readonly step: string; readonly reply: MailReply };
}

const MAX_REPLY_BYTES = 16 * 1024;

/**
 * Calls a mail server as any other one does (RFC 5321), with TLS where it offers that (RFC 3207).
 * @throws Error where it cannot be reached, does not answer in time, or says what is no SMTP
 */
export async function callMailServer(call: MailCall): Promise<MailCalled> {
  const session = new Session(call);
  const late = new Error(`${call.host}:${call.port} did not answer in time`);
  const timer = setTimeout(() => session.fail(late), call.timeoutMs);
  try {
    return await converse(session, call);
  } finally {
    clearTimeout(timer);
    session.end();
  }
}

async function converse(session: Session, { host, helo, mail }: MailCall): Promise<MailCalled> {
  let step = "the connection";
  let reply = await session.reply();
  const greeting = reply.text;
  let offers: string[] = [];
  let tls: MailCalled["tls"] = null;
  const called = () => ({ greeting, offers, tls, answered: { step, reply } });
  const ask = async (line: string, good: number) => {
    step = line.split(/[ :]/, 1)[0]!;
    reply = await session.ask(line);
    return Math.floor(reply.code / 100) === good;
  };
  if (reply.code !== 220 || !await ask(`EHLO ${helo}`, 2)) return called();
  offers = reply.text.split("\n").slice(1).map((line) => line.split(" ", 1)[0]!.toUpperCase());
  if (offers.includes("STARTTLS")) {
    if (!await ask("STARTTLS", 2)) return called();
    tls = await session.startTls(host);
    if (!await ask(`EHLO ${helo}`, 2)) return called();
  }
  if (mail !== undefined) {
    const isTaken = await ask(`MAIL FROM:<${mail.from}>`, 2) &&
      await ask(`RCPT TO:<${mail.to}>`, 2) && await ask("DATA", 3);
    if (!isTaken) return called();
    step = "the message";
    reply = await session.ask(`${mail.message.replaceAll(/^\./gm, "..")}.`);
  }
  session.say("QUIT");
  return called();
}

/** One connection, reply by reply. */
class Session {
  #socket: Socket | TLSSocket;
  #came = "";
  #failure: Error | null = null;
  #wake: () => void = () => {};

  constructor({ host, port }: MailCall) {
    this.#socket = connect({ host, port });
    this.#listen(this.#socket);
  }

  #listen(socket: Socket | TLSSocket): void {
    socket.on("error", (error) => this.fail(error));
    socket.on("close", () => this.fail(new Error("the mail server closed the connection")));
    socket.on("data", (bytes: Uint8Array) => {
      this.#came += Buffer.from(bytes).toString("latin1");
      if (this.#came.length > MAX_REPLY_BYTES) this.fail(new Error("a reply has no end"));
      this.#wake();
    });
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  end(): void {
    this.#socket.destroy();
  }

  say(line: string): void {
    this.#socket.write(`${line}\r\n`);
  }

  async ask(line: string): Promise<MailReply> {
    this.say(line);
    return await this.reply();
  }

  async reply(): Promise<MailReply> {
    for (;;) {
      const end = /^[0-9]{3}(?: .*)?\r?\n/m.exec(this.#came);
      if (end !== null) {
        const lines = this.#came.slice(0, end.index + end[0].length).trimEnd().split(/\r?\n/);
        this.#came = this.#came.slice(end.index + end[0].length);
        if (!lines.every((line) => /^[0-9]{3}(?:[ -]|$)/.test(line))) break;
        const text = lines.map((line) => line.slice(4)).join("\n");
        return { code: Number(lines.at(-1)!.slice(0, 3)), text };
      }
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    throw new Error("the server says what is no reply of SMTP");
  }

  /** Whatever its certificate: as mail servers do, and what is wrong with it is told. */
  async startTls(host: string): Promise<NonNullable<MailCalled["tls"]>> {
    const plain = this.#socket;
    plain.removeAllListeners("data");
    plain.removeAllListeners("close");
    const socket = connectTls({
      socket: plain,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    this.#socket = socket;
    let isSecure = false;
    socket.on("secureConnect", () => {
      isSecure = true;
      this.#wake();
    });
    this.#came = "";
    this.#listen(socket);
    while (!isSecure) {
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const { authorized, authorizationError: wrong } = socket;
    return {
      // Deno 2.5 does not tell.
      version: socket.getProtocol?.() ?? "TLS",
      distrust: authorized ? null : String((wrong as { code?: string } | null)?.code ?? wrong),
    };
  }
}
