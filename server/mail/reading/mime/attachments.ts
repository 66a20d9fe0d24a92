/** What is listed of attachments; shown_parts.ts says which parts are some. Pure; linear in bytes. */
import { createHash } from "node:crypto";
import { decodeWords } from "./encoded_words.ts";
import { withoutControls } from "./header_fields.ts";
import { removeInvisible } from "./invisible_characters.ts";
import type { FoundAttachment, ParseWarning } from "../parsed/parsed_mail.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import { decodeTransfer } from "./transfer_encoding.ts";
import type { MailPart } from "./walk_parts.ts";

/** UTF-8 bytes, what a file system takes. */
const MAX_FILENAME_BYTES = 255;
const MAX_CONTENT_TYPE = 127;

/**
 * The rule that counted the attachments of older messages and gave them ids: every part except unnamed
 * text/plain and text/html that are not sent as an attachment.
 */
export function wasAttachment(part: MailPart): boolean {
  if (part.isMultipart) return false;
  return !/^text\/(?:plain|html)$/.test(part.contentType) ||
    part.disposition?.value === "attachment" || givenName(part) !== "";
}

/** The attachment with the index, its bytes decoded as RFC 2046 delimits them. */
export function* describeAttachment(
  raw: Uint8Array,
  part: MailPart,
  index: number,
  warnings: Set<ParseWarning>,
): Sliced<{ attachment: FoundAttachment; bytes: Uint8Array; hiddenRemoved: boolean }> {
  const { bytes, isBroken } = yield* decodeTransfer(
    raw.subarray(part.start, part.end),
    part.encoding,
  );
  if (isBroken) warnings.add("broken_encoding");
  const name = filenameOf(part);
  const { contentId } = part;
  const isInline = part.disposition === null
    ? contentId !== null // of multipart/related
    : part.disposition.value === "inline";
  return {
    attachment: {
      id: `att_${index}`,
      filename: name.text,
      contentType: part.contentType.slice(0, MAX_CONTENT_TYPE),
      sizeBytes: bytes.length,
      disposition: isInline ? "inline" : "attachment",
      contentId,
      sha256: yield* sha256Of(bytes),
    },
    bytes,
    hiddenRemoved: name.removed,
  };
}

/** Bytes that are hashed between two moments at which others may run. */
const HASHED_BYTES = 1024 * 1024;

/** Hex. */
function* sha256Of(bytes: Uint8Array): Sliced<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    hash.update(bytes.subarray(at, at + HASHED_BYTES));
    yield null;
  }
  return hash.digest("hex");
}

/** The file name as it was given, "" without one. */
export function givenName(part: MailPart): string {
  const given = part.disposition?.parameters.get("filename") || part.parameters.get("name") || "";
  return decodeWords(given).text; // against RFC 2047, section 5, and common
}

/** The last component of what may be a path of the sender's (RFC 2183, section 2.3); null without one. */
function filenameOf(part: MailPart): { text: string | null; removed: boolean } {
  const given = withoutControls(givenName(part)).split(/[/\\]/).at(-1)!;
  const { text, removed } = removeInvisible(given);
  const name = cutName(text.trim()).trim();
  return { text: /^\.*$/.test(name) ? null : name, removed };
}

/** At most 255 bytes, its extension kept. */
function cutName(name: string): string {
  const size = (text: string) => new TextEncoder().encode(text).length;
  if (size(name) <= MAX_FILENAME_BYTES) return name.toWellFormed();
  const extension = /\.[^.\s]{1,20}$/.exec(name.slice(-21))?.[0] ?? "";
  let [cut, free] = ["", MAX_FILENAME_BYTES - size(extension)];
  for (const character of name.slice(0, MAX_FILENAME_BYTES)) {
    free -= size(character);
    if (free < 0) break;
    cut += character;
  }
  return (cut + extension).toWellFormed();
}
