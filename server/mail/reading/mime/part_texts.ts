/** The texts of a message's parts, decoded. Pure; linear in their bytes. */
import { decodeCharset } from "./charset.ts";
import type { ParseWarning } from "../parsed/parsed_mail.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import { decodeTransfer } from "./transfer_encoding.ts";
import type { MailPart } from "./walk_parts.ts";

/** UTF-16 units of all plain texts, and of all HTML: what one answer can carry. The raw message has the rest. */
export const MAX_TEXT = 4 * 1024 * 1024;
/** A character takes at most four bytes, and a few more to change its set. */
const MAX_BYTES = 5 * MAX_TEXT;

/** Text by part; of parts beyond the bound there is none. */
export type PartTexts = ReadonlyMap<MailPart, string>;

/**
 * The texts of the parts of one type, in their order. Without NUL, which no text has.
 * @param warnings gets `broken_encoding`, `unknown_charset`, `text_cut`
 */
export function* readTexts(
  raw: Uint8Array,
  parts: readonly MailPart[],
  type: "text/plain" | "text/html",
  warnings: Set<ParseWarning>,
): Sliced<PartTexts> {
  const texts = new Map<MailPart, string>();
  let left = MAX_TEXT;
  for (const part of new Set(parts)) {
    if (part.contentType !== type) continue;
    if (left <= 0) {
      warnings.add("text_cut");
      break;
    }
    const text = cutText(yield* textOf(raw, part, warnings), warnings, left);
    left -= text.length + 1;
    texts.set(part, text);
  }
  return texts;
}

/** Texts, each from the beginning of a line on. */
export function joinTexts(texts: readonly string[]): string {
  let joined = "";
  for (const text of texts) {
    if (joined !== "" && !joined.endsWith("\n")) joined += "\n";
    joined += text;
  }
  return joined;
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
export function cutText(
  text: string,
  warnings: Set<ParseWarning>,
  most: number = MAX_TEXT,
): string {
  if (text.length <= most) return text;
  warnings.add("text_cut");
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
