/** One attachment out of the raw message, when it is asked for. Pure. */
import { describeAttachment, isAttachment } from "./attachments.ts";
import type { FoundAttachment, ParseWarning } from "./parsed_mail.ts";
import type { Sliced } from "./sliced.ts";
import { type WalkLimits, walkParts } from "./walk_parts.ts";

export interface ReadAttachment {
  attachment: FoundAttachment;
  /** Decoded, of a buffer of their own. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** All attachments of a message, in their order; the message is walked once. */
export function* readAttachments(
  raw: Uint8Array,
  limits: WalkLimits,
): Sliced<ReadAttachment[]> {
  const warnings = new Set<ParseWarning>();
  const parts = yield* walkParts(raw, limits, warnings);
  const read: ReadAttachment[] = [];
  for (const [index, part] of parts.filter(isAttachment).entries()) {
    const { attachment, bytes } = yield* describeAttachment(raw, part, index, warnings);
    read.push({ attachment, bytes: new Uint8Array(bytes) });
  }
  return read;
}

/**
 * @param index of `att_{index}`; also of one that the record's list had no room for
 * @param limits the message was parsed with: the indexes rest on them
 * @returns null where the message has no such attachment
 */
export function* readAttachment(
  raw: Uint8Array,
  index: number,
  limits: WalkLimits,
): Sliced<ReadAttachment | null> {
  const warnings = new Set<ParseWarning>();
  const parts = yield* walkParts(raw, limits, warnings);
  const part = parts.filter(isAttachment)[index];
  if (part === undefined) return null;
  const { attachment, bytes } = yield* describeAttachment(raw, part, index, warnings);
  return { attachment, bytes: new Uint8Array(bytes) };
}
