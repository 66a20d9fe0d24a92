import { parseAddresses } from "./addresses.ts";
import { fieldValue, readFields } from "./header_fields.ts";
import { toEnd } from "../../../base/slices/sliced.ts";

/** What is looked at: few headers are longer, and reading these takes a fraction of a millisecond. */
const PEEKED_BYTES = 32 * 1024;
const PEEKED_FIELDS = 500;
const [TAB, LF, CR, SPACE] = [0x09, 0x0a, 0x0d, 0x20];

/**
 * The address that parsing will find in From, read on the spot from the beginning of a message: by the
 * same readers, so that it is the same. Pure.
 *
 * @returns null for what parsing will find no address in; undefined where only parsing can tell
 */
export function peekFrom(raw: Uint8Array): string | null | undefined {
  const { end, isWhole } = headWithin(raw.subarray(0, PEEKED_BYTES), raw.length <= PEEKED_BYTES);
  const fields = toEnd(readFields(raw, 0, end));
  for (const field of fields.filter(({ name }) => name === "from")) {
    const [first] = parseAddresses(fieldValue(raw, field), 1, new Set()).addresses;
    if (first !== undefined) return first.address;
  }
  return isWhole ? null : undefined;
}

/**
 * How far fields go that are whole. What follows the last field decides where that one ends, so of a
 * header that goes on it is left out.
 */
function headWithin(raw: Uint8Array, isAll: boolean): { end: number; isWhole: boolean } {
  /** Where the last line begins that begins a field. */
  let begun = 0;
  let fields = 0;
  for (let at = 0; at < raw.length;) {
    const byte = raw[at];
    if (byte === LF || byte === CR && raw[at + 1] === LF) return { end: at, isWhole: true };
    if (byte !== SPACE && byte !== TAB) {
      begun = at;
      if (++fields > PEEKED_FIELDS) return { end: begun, isWhole: false };
    }
    const lf = raw.indexOf(LF, at);
    at = lf < 0 ? raw.length : lf + 1;
  }
  return isAll ? { end: raw.length, isWhole: true } : { end: begun, isWhole: false };
}
