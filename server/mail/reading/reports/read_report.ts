/**
 * What mail to a bounce address says of the mail that it is about: by the fields of a report of
 * delivery, else by the words of a mail server's notice. It runs in the mail worker (docs/adr/0038):
 * the bytes are a stranger's. Pure.
 */
import { isBounceSender } from "../mime/automated.ts";
import { peekFrom } from "../mime/peek_from.ts";
import { decodeCharset } from "../mime/charset.ts";
import { decodeTransfer } from "../mime/transfer_encoding.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import { walkParts } from "../mime/walk_parts.ts";
import { readBounceNotice } from "./bounce_notice.ts";
import { type DsnRecipient, readDsn } from "./dsn.ts";

const LIMITS = { parts: 50, depth: 4 };

/**
 * What a message reports of its recipients, in its order; of a notice in words one, without an address.
 * @param raw the beginning of the message (RFC 5322)
 * @param envelopeFrom envelope sender, "" for the null one
 * @returns null for what cannot be applied: no report, one without a usable group of fields, or a
 * notice that leaves doubt
 */
export function* readReport(
  raw: Uint8Array,
  envelopeFrom: string,
): Sliced<DsnRecipient[] | null> {
  const parts = yield* walkParts(raw, LIMITS, new Set());
  const recipients = yield* readDsn(raw, parts);
  if (recipients.length > 0) return recipients;
  // Words count where a mail server says them; people and their answering programs quote such words.
  const isFromServer = (envelopeFrom === "" || isBounceSender(envelopeFrom)) &&
    isBounceSender(peekFrom(raw) ?? "");
  const part = parts.find(({ contentType, isMultipart }) =>
    contentType === "text/plain" && !isMultipart
  );
  if (!isFromServer || part === undefined) return null;
  const { bytes } = yield* decodeTransfer(raw.subarray(part.start, part.end), part.encoding);
  const { text } = decodeCharset(bytes, part.parameters.get("charset") ?? "");
  const notice = readBounceNotice(text);
  return notice === null ? null : [notice];
}
