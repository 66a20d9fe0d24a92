/** The fields of a block of headers (RFC 5322, section 2.2), as they stand in the message. Pure. */
import { decodeCharset } from "./charset.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";

export interface HeaderField {
  /** Lowercased. */
  name: string;
  /** Bytes of the value, from behind the colon to before its last line end. */
  start: number;
  end: number;
}

/** RFC 5322, section 3.6.8: printable ASCII but the colon. White space before the colon is obsolete. */
const NAME = /^([!-9;-~]{1,200})[ \t]*$/;
const [TAB, LF, CR, SPACE, COLON] = [0x09, 0x0a, 0x0d, 0x20, 0x3a];
/** What is looked at between two moments at which others may run. */
const LINES_A_SLICE = 2_048;
/** No name is longer: a line without a colon within this is no field. */
const MAX_NAME = 256;

/**
 * The fields between two places of a message, in order. Lines that are no field are left out, with
 * the lines that continue them: an mbox's `From `, and what mailers break off.
 */
export function* readFields(raw: Uint8Array, start: number, end: number): Sliced<HeaderField[]> {
  const fields: HeaderField[] = [];
  let current: HeaderField | null = null;
  for (let [at, lines] = [start, 1]; at < end; lines++) {
    if (lines % LINES_A_SLICE === 0) yield null;
    const lf = raw.indexOf(LF, at);
    const next = lf < 0 || lf >= end ? end : lf + 1;
    const lineEnd = withoutLineEnd(raw, at, next);
    if (raw[at] === SPACE || raw[at] === TAB) {
      if (current !== null) current.end = lineEnd;
    } else {
      current = fieldOf(raw, at, lineEnd);
      if (current !== null) fields.push(current);
    }
    at = next;
  }
  return fields;
}

/** Where a line ends without its LF or CRLF. */
export function withoutLineEnd(raw: Uint8Array, start: number, next: number): number {
  if (next <= start || raw[next - 1] !== LF) return next;
  return next - 2 >= start && raw[next - 2] === CR ? next - 2 : next - 1;
}

function fieldOf(raw: Uint8Array, start: number, end: number): HeaderField | null {
  const head = raw.subarray(start, Math.min(end, start + MAX_NAME));
  const colon = head.indexOf(COLON);
  if (colon < 1) return null;
  const name = NAME.exec(latin1(head.subarray(0, colon)))?.[1];
  return name === undefined ? null : { name: name.toLowerCase(), start: start + colon + 1, end };
}

/**
 * The value of a field, unfolded and trimmed, its control characters as spaces. Bytes beyond ASCII
 * are UTF-8 (RFC 6532), else windows-1252. Encoded words are still encoded.
 * @param onUnknown called for bytes that are neither
 */
export function fieldValue(
  raw: Uint8Array,
  { start, end }: HeaderField,
  onUnknown: () => void = () => {},
): string {
  const { text, isKnown } = decodeCharset(raw.subarray(start, end), "");
  if (!isKnown) onUnknown();
  return withoutControls(text.replaceAll(/\r?\n(?=[ \t])/g, "")).trim();
}

/** A text of one line: control characters as spaces. */
export function withoutControls(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, " ");
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
