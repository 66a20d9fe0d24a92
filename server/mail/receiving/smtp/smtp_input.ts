/** What a client sends, as command lines, or as pieces of a message. */
import { Buffer } from "node:buffer";

const LF = 0x0a;
const CR = 0x0d;

/** "bare": a CR or LF that is not of a CRLF. */
export type CommandLine = { text: string } | "too_long" | "bare" | null;

export class SmtpInput {
  #piece: Uint8Array = new Uint8Array(0);
  /** A line whose end has not come: as much of it as is kept, and how long it is. */
  #begun = new Uint8Array(0);
  #begunBytes = 0;

  /**
   * @param read the next bytes; null at the end
   * @param lineBytes of a command line with its end, at most
   */
  constructor(
    private readonly read: () => Promise<Uint8Array | null>,
    private readonly lineBytes: number,
  ) {}

  /** Whether something has come that nobody has taken. */
  get isEmpty(): boolean {
    return this.#piece.length === 0;
  }

  /** Whether a line can be had without waiting. */
  get hasLine(): boolean {
    return this.#piece.includes(LF);
  }

  /**
   * The next line without its CRLF, each byte a character; null at the end. A line that is too long is
   * skipped, and told when its end has come.
   */
  async line(): Promise<CommandLine> {
    for (;;) {
      const end = this.#piece.indexOf(LF);
      const part = this.#piece.subarray(0, end === -1 ? undefined : end + 1);
      this.#piece = this.#piece.subarray(part.length);
      // Most lines come whole, and nothing of them has to be kept.
      if (end !== -1 && this.#begunBytes === 0) return this.#lineOf(part, part.length);
      this.#begin(part);
      if (end !== -1) return this.#finish();
      const next = await this.read();
      if (next === null) return null;
      this.#piece = next;
    }
  }

  #begin(part: Uint8Array): void {
    if (this.#begun.length === 0) this.#begun = new Uint8Array(this.lineBytes);
    const at = Math.min(this.#begunBytes, this.lineBytes);
    this.#begun.set(part.subarray(0, this.lineBytes - at), at);
    this.#begunBytes += part.length;
  }

  #finish(): CommandLine {
    const [begun, sizeBytes] = [this.#begun, this.#begunBytes];
    this.#begun = new Uint8Array(0);
    this.#begunBytes = 0;
    return this.#lineOf(begun, sizeBytes);
  }

  /** @param bytes of a line with its end, whole unless it is too long */
  #lineOf({ buffer, byteOffset }: Uint8Array, sizeBytes: number): CommandLine {
    if (sizeBytes > this.lineBytes) return "too_long";
    const line = Buffer.from(buffer, byteOffset, sizeBytes);
    const end = sizeBytes - 2;
    const isWhole = end >= 0 && line.indexOf(CR) === end;
    return isWhole ? { text: line.toString("latin1", 0, end) } : "bare";
  }

  /** The next bytes, whatever they are; null at the end. */
  async next(): Promise<Uint8Array | null> {
    const piece = this.#piece;
    this.#piece = new Uint8Array(0);
    return piece.length > 0 ? piece : await this.read();
  }

  /** Puts back what was not taken. */
  putBack(rest: Uint8Array): void {
    this.#piece = rest;
  }
}
