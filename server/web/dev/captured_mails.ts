/** What local mode keeps of the mail that leaves and comes, in memory: the newest, within bounds. */
import type { OutgoingMail } from "../../base/mailer/mailer.ts";
import type { MailContent } from "./mail_content.ts";
import { Newest } from "./newest.ts";

/** What became of a mail: of one that leaves by the next hop, or of one that came to the inboxes here. */
export type CaptureResult =
  | "sent"
  /** Taken, and no reply came. */
  | "unknown"
  /** Refused for good. */
  | "refused"
  /** Refused for a time, and tried again. */
  | "deferred"
  /** At least one inbox has it. */
  | "received"
  /** No inbox has it. */
  | "rejected";

/** A mail as local mode keeps it. */
export interface CapturedMail {
  /** From 1 on, in their order, of those that were sent, refused and received each. */
  number: number;
  /** What its address ends with: the number, behind a letter for those that were not sent. */
  key: string;
  /** When its content was taken, Unix ms; of one that was refused, the last time. */
  atMs: number;
  /** Envelope sender and recipient; of what came all that it was for. */
  from: string;
  to: string;
  result: CaptureResult;
  /** What was said of it; "" for nothing. */
  reason: string;
  attempts: number;
  /** The message (RFC 5322), as it was sent. */
  raw: Uint8Array<ArrayBuffer>;
  content: MailContent;
  /** Whether somebody has read it here. */
  isSeen: boolean;
}

export interface CaptureBounds {
  mails: number;
  /** Bytes of raw messages and of what was read of them, together. */
  bytes: number;
}

type Told = Pick<CapturedMail, "atMs" | "content">;

/** docs/operations.md, "Local mode". */
const BOUNDS: CaptureBounds = { mails: 500, bytes: 64 * 2 ** 20 };
/** Of what was refused, and of what came, each. */
const OTHER_BOUNDS: CaptureBounds = { mails: 200, bytes: 16 * 2 ** 20 };

export class CapturedMails {
  readonly #sent: Newest<CapturedMail>;
  readonly #refused = boxOf(OTHER_BOUNDS);
  readonly #received = boxOf(OTHER_BOUNDS);
  readonly #listeners = new Set<() => void>();

  constructor(bounds: CaptureBounds = BOUNDS) {
    this.#sent = boxOf(bounds);
  }

  /** Keeps a mail that the next hop took; the oldest make room for it. */
  add(mail: OutgoingMail, of: Told & { result: "sent" | "unknown" }): CapturedMail {
    const reason = of.result === "unknown" ? "taken without a reply" : "";
    return this.#keep(this.#sent, "", { ...mailOf(mail), ...of, reason });
  }

  /** Keeps a mail that the next hop refused; one that is tried again stays one. */
  addRefused(
    mail: OutgoingMail,
    of: Told & { result: "refused" | "deferred"; reason: string },
  ): CapturedMail {
    const former = this.#refused.newestFirst.find(({ to, raw }) =>
      to === mail.to && isSame(raw, mail.content)
    );
    if (former === undefined) return this.#keep(this.#refused, "x", { ...mailOf(mail), ...of });
    Object.assign(former, of, { attempts: former.attempts + 1 });
    this.#tell();
    return former;
  }

  /** Keeps a mail that came, by whatever way. */
  addReceived(
    mail: Pick<CapturedMail, "from" | "to" | "raw">,
    of: Told & { result: "received" | "rejected"; reason: string },
  ): CapturedMail {
    return this.#keep(this.#received, "in", { ...mail, ...of });
  }

  /** Those that the next hop took, the newest first. */
  get newestFirst(): CapturedMail[] {
    return this.#sent.newestFirst;
  }

  /** All of them, the newest first. */
  get everything(): CapturedMail[] {
    return [this.#sent, this.#refused, this.#received]
      .flatMap(({ newestFirst }) => newestFirst)
      .toSorted((a, b) =>
        b.atMs - a.atMs || Number(b.result === "received") - Number(a.result === "received")
      );
  }

  /** Undefined for a number that was never given, or whose mail is no longer kept. */
  find(number: number): CapturedMail | undefined {
    return this.#sent.find(number);
  }

  /** The same by the end of an address. */
  findByKey(key: string): CapturedMail | undefined {
    const [, kind, number] = /^(x|in|)([1-9][0-9]{0,14})$/.exec(key) ?? [];
    if (number === undefined) return undefined;
    const box = kind === "" ? this.#sent : kind === "x" ? this.#refused : this.#received;
    return box.find(Number(number));
  }

  /** Calls back whenever a mail is kept or changes. @returns ends that */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #keep(
    box: Newest<CapturedMail>,
    kind: string,
    mail: Omit<CapturedMail, "number" | "key" | "isSeen" | "attempts">,
  ): CapturedMail {
    // A copy: composed mails may be views of larger buffers.
    const raw = Uint8Array.from(mail.raw);
    const kept = box.add((number) => ({
      ...mail,
      raw,
      number,
      key: `${kind}${number}`,
      attempts: 1,
      isSeen: false,
    }));
    this.#tell();
    return kept;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function boxOf({ mails, bytes }: CaptureBounds): Newest<CapturedMail> {
  return new Newest(
    { entries: mails, bytes },
    ({ raw, content }) => raw.length + content.sizeBytes,
  );
}

function mailOf({ from, to, content }: OutgoingMail) {
  return { from, to, raw: content as Uint8Array<ArrayBuffer> };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}
