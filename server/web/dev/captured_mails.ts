/** What local mode keeps of the mail that it sends, in memory: the newest, within bounds. */
import type { OutgoingMail } from "../../base/mailer/mailer.ts";
import type { MailContent } from "./mail_content.ts";

/** A mail that was sent, as local mode keeps it. */
export interface CapturedMail {
  /** From 1 on, in the order of sending. */
  number: number;
  /** When its content was taken, Unix ms. */
  atMs: number;
  /** Envelope sender and recipient. */
  from: string;
  to: string;
  /** What the sending side was told: "unknown" where no reply came. */
  result: "sent" | "unknown";
  /** The message (RFC 5322), as it was sent. */
  raw: Uint8Array<ArrayBuffer>;
  content: MailContent;
}

export interface CaptureBounds {
  mails: number;
  /** Bytes of raw messages and of what was read of them, together. */
  bytes: number;
}

/** docs/operations.md, "Local mode". */
const BOUNDS: CaptureBounds = { mails: 500, bytes: 64 * 2 ** 20 };

export class CapturedMails {
  readonly #mails: CapturedMail[] = [];
  #bytes = 0;
  #last = 0;

  constructor(private readonly bounds: CaptureBounds = BOUNDS) {}

  /** Keeps a mail; the oldest make room for it. */
  add(
    { from, to, content: raw }: OutgoingMail,
    of: Pick<CapturedMail, "atMs" | "result" | "content">,
  ): CapturedMail {
    // A copy: composed mails may be views of larger buffers.
    const mail: CapturedMail = { ...of, number: ++this.#last, from, to, raw: Uint8Array.from(raw) };
    this.#mails.push(mail);
    this.#bytes += sizeOf(mail);
    while (this.#mails.length > this.bounds.mails || this.#bytes > this.bounds.bytes) {
      this.#bytes -= sizeOf(this.#mails.shift()!);
    }
    return mail;
  }

  /** The newest first. */
  get newestFirst(): CapturedMail[] {
    return this.#mails.toReversed();
  }

  /** Undefined for a number that was never given, or whose mail is no longer kept. */
  find(number: number): CapturedMail | undefined {
    return this.#mails[number - (this.#mails[0]?.number ?? 0)];
  }
}

function sizeOf({ raw, content }: CapturedMail): number {
  return raw.length + content.sizeBytes;
}
