/** One attachment out of the raw message, when it is asked for. Pure. */
import { describeAttachment, isAttachment } from "./attachments.ts";
import type { FoundAttachment, ParseWarning } from "./parsed_mail.ts";
import { type WalkLimits, walkParts } from "./walk_parts.ts";

export interface ReadAttachment {
  attachment: FoundAttachment;
  /** Decoded, of a buffer of their own. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** All attachments of a message, in their order; the message is walked once. */
export function readAttachments(raw: Uint8Array, limits: WalkLimits): ReadAttachment[] {
  const warnings = new Set<ParseWarning>();
  return walkParts(raw, limits, warnings).filter(isAttachment).map((part, index) => {
    const { attachment, bytes } = describeAttachment(raw, part, index, warnings);
    return { attachment, bytes: new Uint8Array(bytes) };
  });
}

/**
 * @param index of `att_{index}`; also of one that the record's list had no room for
 * @param limits the message was parsed with: the indexes rest on them
 * @returns null where the message has no such attachment
 */
export function readAttachment(
  raw: Uint8Array,
  index: number,
  limits: WalkLimits,
): ReadAttachment | null {
  const warnings = new Set<ParseWarning>();
  const part = walkParts(raw, limits, warnings).filter(isAttachment)[index];
  if (part === undefined) return null;
  const { attachment, bytes } = describeAttachment(raw, part, index, warnings);
  return { attachment, bytes: new Uint8Array(bytes) };
}
