/** The texts of a message's parts, decoded. Pure; linear in their bytes. */
import { isText } from "./attachments.ts";
import { decodeCharset } from "./charset.ts";
import type { ParseWarning } from "./parsed_mail.ts";
import type { Sliced } from "./sliced.ts";
import { decodeTransfer } from "./transfer_encoding.ts";
import type { MailPart } from "./walk_parts.ts";

/** UTF-16 units of all plain texts, and of all HTML: what one answer can carry. The raw message has the rest. */
export const MAX_TEXT = 4 * 1024 * 1024;
/** A character takes at most four bytes, and a few more to change its set. */
const MAX_BYTES = 5 * MAX_TEXT;

/**
 * The parts of one type that are no attachments, joined by line ends; null where there are none.
 * Without NUL, which no text has.
 * @param warnings gets `broken_encoding`, `unknown_charset`, `text_cut`
 */
export function* joinTexts(
  raw: Uint8Array,
  parts: readonly MailPart[],
  type: "text/plain" | "text/html",
  warnings: Set<ParseWarning>,
): Sliced<string | null> {
  const found = parts.filter((part) => part.contentType === type && isText(part));
  if (found.length === 0) return null;
  let joined = "";
  for (const part of found) {
    if (joined !== "" && !joined.endsWith("\n")) joined += "\n";
    if (joined.length >= MAX_TEXT) {
      warnings.add("text_cut");
      break;
    }
    joined += yield* textOf(raw, part, warnings);
  }
  return cutText(joined, warnings);
}

function* textOf(
  raw: Uint8Array,
  part: MailPart,
  warnings: Set<ParseWarning>,
): Sliced<string> {
  const decoded = yield* decodeTransfer(raw.subarray(part.start, part.end), part.encoding);
  const isCut = decoded.bytes.length > MAX_BYTES;
  if (isCut) warnings.add("text_cut");
  const bytes = isCut ? decoded.bytes.subarray(0, MAX_BYTES) : decoded.bytes;
  yield null;
  const { text, isKnown, isBroken } = decodeCharset(bytes, part.parameters.get("charset") ?? "");
  if (decoded.isBroken || isBroken) warnings.add("broken_encoding");
  if (!isKnown) warnings.add("unknown_charset");
  yield null;
  // Cut first: replacing millions of line ends takes more memory than all the rest.
  const clean = cutText(text, warnings).replaceAll("\0", "");
  return part.contentType === "text/plain" ? clean.replaceAll(/\r\n?/g, "\n") : clean;
}

/** Cut to the bound, never inside a pair of surrogates. */
export function cutText(text: string, warnings: Set<ParseWarning>): string {
  if (text.length <= MAX_TEXT) return text;
  warnings.add("text_cut");
  const last = text.charCodeAt(MAX_TEXT - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_TEXT - 1 : MAX_TEXT);
}
