/** One attachment out of the raw message, when it is asked for. Pure. */
import { describeAttachment, wasAttachment } from "./attachments.ts";
import type { FoundAttachment, ParseWarning } from "../parsed/parsed_mail.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import { readShownParts } from "./shown_parts.ts";
import { type MailPart, type WalkLimits, walkParts } from "./walk_parts.ts";

export interface ReadAttachment {
  attachment: FoundAttachment;
  /** Decoded, of a buffer of their own. */
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The attachments of a message that its record lists, in their order; the message is walked once.
 * @param listed SHA-256 of each, in hex
 * @param limits the message was parsed with: the order rests on them
 * @returns null for what the message has not
 */
export function* readAttachments(
  raw: Uint8Array,
  listed: readonly string[],
  limits: WalkLimits,
): Sliced<(ReadAttachment | null)[]> {
  const parts = yield* walkParts(raw, limits, new Set<ParseWarning>());
  const { attachments } = readShownParts(parts);
  const former = parts.filter(wasAttachment);
  const read: (ReadAttachment | null)[] = [];
  for (const [index, sha256] of listed.entries()) {
    const one = (yield* readPart(raw, attachments[index], index, sha256)) ??
      (yield* readPart(raw, former[index], index, sha256));
    read.push(one);
  }
  return read;
}

/** An attachment as a record lists it. */
export interface ListedAttachment {
  /** The index in `att_{index}`. */
  index: number;
  /**
   * Of its bytes, hex: an index does not count the same parts in messages that came before parts were
   * read as mail programs do.
   */
  sha256: string;
}

/**
 * @param limits the message was parsed with: the indexes rest on them
 * @returns null where the message has no such attachment
 */
export function* readAttachment(
  raw: Uint8Array,
  { index, sha256 }: ListedAttachment,
  limits: WalkLimits,
): Sliced<ReadAttachment | null> {
  const parts = yield* walkParts(raw, limits, new Set<ParseWarning>());
  return (yield* readPart(raw, readShownParts(parts).attachments[index], index, sha256)) ??
    (yield* readPart(raw, parts.filter(wasAttachment)[index], index, sha256));
}

function* readPart(
  raw: Uint8Array,
  part: MailPart | undefined,
  index: number,
  sha256: string,
): Sliced<ReadAttachment | null> {
  if (part === undefined) return null;
  const { attachment, bytes } = yield* describeAttachment(
    raw,
    part,
    index,
    new Set<ParseWarning>(),
  );
  return attachment.sha256 === sha256 ? { attachment, bytes: new Uint8Array(bytes) } : null;
}
