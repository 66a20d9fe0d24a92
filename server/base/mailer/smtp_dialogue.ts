/**
 * What is said over a connection once it is made, secured and logged in (RFC 5321): mails, one after the other.
 * The library that makes it sends a content through three streams, which takes longer than all else of a mail.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";

/** What a dialogue fails by: a reply, or a reason of its own. */
export interface SmtpFailure extends Error {
  code?: string;
  command?: string;
  /** The reply, as it came. */
  response?: string;
}

export interface SmtpEnvelope {
  from: string;
  to: string;
  /** Told where the other side asks for it. */
  sizeBytes?: number;
}

/** Extensions that the other side has named, in capitals. */
type Extensions = readonly string[];

/** A peer that never completes a reply is left. */
const MOST_REPLY_CHARACTERS = 2 ** 20;
/** Bytes of a content in one write. */
const CHUNK_BYTES = 64 * 1024;
const CR = 13;
const LF = 10;
interface ContentReply {
  came: Promise<string>;
  said: string | null;
}
const NO_CONTENT: ContentReply = { came: new Promise<never>(() => {}), said: null };

export function smtpFailure(
  message: string,
  fields: Pick<SmtpFailure, "code" | "command" | "response">,
): SmtpFailure {
  return Object.assign(new Error(message), fields);
}

export class SmtpDialogue {
  /** Those who wait for a reply, in the order of their commands. */
  readonly #waiting: ((reply: string) => void)[] = [];
  /** Lines of a reply that goes on, and a line whose end has not come. */
  #reply = "";
  #line = "";
  /** The reply to a content, which may come before its end; null until it has come. */
  #contentReply: ContentReply = NO_CONTENT;

  /** @param broke called for what makes all that comes later worthless */
  constructor(
    private readonly socket: Socket,
    private readonly extensions: Extensions,
    private readonly broke: (failure: SmtpFailure) => void,
  ) {
    socket.on("data", (chunk: Buffer) => this.#hear(chunk.toString("latin1")));
    // What was said last may lack its end.
    socket.once("close", () => /^[45][0-9]{2}[ -]/.test(this.#line) && this.#hear("\n"));
  }

  /** Forgets the mail before. @throws SmtpFailure, here and below, beside what `within` throws */
  async reset(within: Within): Promise<void> {
    await this.#accepted("RSET", within(this.#ask("RSET\r\n")));
  }

  /** Asks for the end of the connection. */
  quit(): Promise<string> {
    return this.#ask("QUIT\r\n");
  }

  /** From MAIL to the reply to DATA: the content may follow. */
  async begin(envelope: SmtpEnvelope, within: Within): Promise<void> {
    const [mail, recipient] = this.#commands(envelope);
    if (!this.extensions.includes("PIPELINING")) {
      await this.#accepted("MAIL FROM", within(this.#ask(mail)));
      await this.#accepted("RCPT TO", within(this.#ask(recipient)));
      return await this.#beginContent(within(this.#ask("DATA\r\n")));
    }
    const asked = [this.#ask(mail + recipient + "DATA\r\n"), this.#next()] as const;
    const content = this.#beginContent(this.#next());
    content.catch(() => {}); // a refusal before it is told first
    let refused: SmtpFailure | null = null;
    for (const [i, command] of (["MAIL FROM", "RCPT TO"] as const).entries()) {
      const reply = await within(asked[i]!);
      if (!reply.startsWith("2")) refused ??= refusal(command, reply);
      if (reply.startsWith("421")) throw refused; // nothing more comes
    }
    if (refused === null) return await within(content);
    const isTaken = await within(content.then(() => true, () => false));
    // Without a recipient it should not be. A content of nothing keeps the connection; without a sender
    // nobody knows what it would be taken for.
    if (isTaken && refused.command === "MAIL FROM") this.broke(refused);
    else if (isTaken) {
      this.socket.write(".\r\n");
      await within(this.#contentReply.came);
    }
    throw refused;
  }

  /** @param asked the reply to DATA; that to the content may come right behind it */
  async #beginContent(asked: Promise<string>): Promise<void> {
    const content: ContentReply = {
      came: this.#next().then((reply) => content.said = reply),
      said: null,
    };
    this.#contentReply = content;
    try {
      await this.#accepted("DATA", asked);
    } catch (error) {
      this.#waiting.pop();
      throw error;
    }
  }

  /**
   * The content, and the reply to it.
   * @param onWhole called before its end may leave
   * @returns a reply before that is about something else than the whole
   */
  async send(content: Uint8Array, within: Within, onWhole: () => void): Promise<string> {
    const replied = this.#contentReply;
    let at = 0;
    while (content.length - at > CHUNK_BYTES) {
      const cut = at + CHUNK_BYTES;
      const end = content[cut - 1] === CR && content[cut] === LF ? cut + 1 : cut;
      await within(this.#written(wireChunk(content, at, end)));
      // A reply that has come is read before the end is sent, so it is known to be early.
      await within(new Promise((resolve) => setTimeout(resolve)));
      if (replied.said !== null) return accepted("DATA", replied.said);
      at = end;
    }
    if (replied.said !== null) return accepted("DATA", replied.said);
    // Of a connection that has broken meanwhile nothing has left: its end is about to be told.
    if (!this.socket.writable) return await within(new Promise<never>(() => {}));
    onWhole();
    const end = isLineEnd(content, content.length) ? ".\r\n" : "\r\n.\r\n";
    this.socket.write(Buffer.concat([wireChunk(content, at, content.length), Buffer.from(end)]));
    return accepted("DATA", await within(replied.came));
  }

  async #accepted(command: string, asked: Promise<string>): Promise<void> {
    const reply = await asked;
    if (command === "DATA" && reply.startsWith("3")) return; // some say 250
    accepted(command, reply);
  }

  #commands({ from, to, sizeBytes }: SmtpEnvelope): [mail: string, recipient: string] {
    if (/[\r\n<>]/.test(from + to)) {
      throw smtpFailure("an address is malformed", { code: "EENVELOPE" });
    }
    // deno-lint-ignore no-control-regex
    const isUtf8 = /[^\x00-\x7f]/.test(from + to) && this.extensions.includes("SMTPUTF8");
    const size = sizeBytes && this.extensions.includes("SIZE") ? ` SIZE=${sizeBytes}` : "";
    return [
      `MAIL FROM:<${from}>${isUtf8 ? " SMTPUTF8" : ""}${size}\r\n`,
      `RCPT TO:<${to}>\r\n`,
    ];
  }

  #ask(commands: string): Promise<string> {
    const reply = this.#next();
    this.socket.write(Buffer.from(commands));
    return reply;
  }

  #next(): Promise<string> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #written(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.write(chunk, () => resolve()));
  }

  #hear(text: string): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop()!;
    for (const line of lines) this.#hearLine(line.replace(/\r$/, ""));
    if (this.#reply.length + this.#line.length <= MOST_REPLY_CHARACTERS) return;
    this.#reply = this.#line = "";
    this.broke(smtpFailure("a reply without an end", { code: "EPROTOCOL", command: "CONN" }));
  }

  #hearLine(line: string): void {
    if (this.#reply === "" && line.trim() === "") return;
    this.#reply += (this.#reply === "" ? "" : "\n") + line;
    if (/^[0-9]+-/.test(line)) return;
    const reply = utf8Of(this.#reply);
    this.#reply = "";
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting(reply);
    const response = { response: reply };
    this.broke(
      smtpFailure("an unexpected reply", { code: "EPROTOCOL", command: "CONN", ...response }),
    );
  }
}

/** Waits for something as long as the connection is there. */
export type Within = <T>(what: Promise<T>) => Promise<T>;

function refusal(command: string, response: string): SmtpFailure {
  return smtpFailure(`${command} was refused`, { code: "EENVELOPE", command, response });
}

/** @throws SmtpFailure for another reply than 2xx */
function accepted(command: string, reply: string): string {
  if (!reply.startsWith("2")) throw refusal(command, reply);
  return reply;
}

function isLineEnd(content: Uint8Array, at: number): boolean {
  return at > 0 && (content[at - 1] === LF || content[at - 1] === CR);
}

/**
 * A part of a content as it goes over the wire: lines end with CRLF, whatever they ended with, since a lone CR or
 * LF may be an end of line to others; a dot that begins one is doubled.
 */
function wireChunk(content: Uint8Array, at: number, end: number): Uint8Array {
  const bytes = Buffer.from(content.buffer, content.byteOffset + at, end - at);
  let text = bytes.toString("latin1");
  if (/\r(?!\n)|(?<!\r)\n/.test(text)) text = text.replace(/\r\n|\r|\n/g, "\r\n");
  if (text.startsWith(".") && (at === 0 || isLineEnd(content, at))) text = `.${text}`;
  return Buffer.from(text.replaceAll("\n.", "\n.."), "latin1");
}

/** Texts of replies are UTF-8 with most servers; what is none stays as it came, a character a byte. */
function utf8Of(text: string): string {
  // deno-lint-ignore no-control-regex
  if (!/[^\x00-\x7f]/.test(text)) return text;
  const utf8 = Buffer.from(text, "latin1").toString("utf8");
  return utf8.includes("\uFFFD") ? text : utf8;
}
