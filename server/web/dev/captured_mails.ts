/** What local mode keeps of the mail that it sends, in memory: the newest, within bounds. */
import type { OutgoingMail } from "../../base/mailer/mailer.ts";
import type { MailContent } from "./mail_content.ts";
import { Newest } from "./newest.ts";

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
  readonly #mails: Newest<CapturedMail>;

  constructor({ mails, bytes }: CaptureBounds = BOUNDS) {
    this.#mails = new Newest({ entries: mails, bytes }, sizeOf);
  }

  /** Keeps a mail; the oldest make room for it. */
  add(
    { from, to, content: raw }: OutgoingMail,
    of: Pick<CapturedMail, "atMs" | "result" | "content">,
  ): CapturedMail {
    // A copy: composed mails may be views of larger buffers.
    return this.#mails.add((number) => ({ ...of, number, from, to, raw: Uint8Array.from(raw) }));
  }

  /** The newest first. */
  get newestFirst(): CapturedMail[] {
    return this.#mails.newestFirst;
  }

  /** Undefined for a number that was never given, or whose mail is no longer kept. */
  find(number: number): CapturedMail | undefined {
    return this.#mails.find(number);
  }
}

function sizeOf({ raw, content }: CapturedMail): number {
  return raw.length + content.sizeBytes;
}
