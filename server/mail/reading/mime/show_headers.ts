/** The headers of a message as they are shown (docs/mail.md, "Messages"). Pure; linear. */
import { decodeWords } from "./encoded_words.ts";
import { fieldValue, type HeaderField, withoutControls } from "./header_fields.ts";
import type { ParseWarning } from "../parsed/parsed_mail.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";

/** Bytes of all names and values, UTF-8. */
export const MAX_HEADER_BYTES = 64 * 1024;
/** What is decoded between two moments at which others may run. */
const FIELDS_A_SLICE = 64;
/** With less left the rest is not looked at: a message may have any number of headers. */
const LEAST_BYTES = 256;

/**
 * Lowercased names to decoded values, in order. A field that does not fit the 64 KiB any more is left
 * out; shorter ones after it may still fit.
 * @param warnings gets `headers_cut`, `unknown_charset`
 */
export function* showHeaders(
  raw: Uint8Array,
  fields: readonly HeaderField[],
  warnings: Set<ParseWarning>,
): Sliced<Record<string, string[]>> {
  const values = new Map<string, string[]>();
  let free = MAX_HEADER_BYTES;
  for (const [i, field] of fields.entries()) {
    if (i % FIELDS_A_SLICE === 0) yield null;
    if (free < LEAST_BYTES) {
      warnings.add("headers_cut");
      break;
    }
    const value = decodedValue(raw, field, warnings);
    const sizeBytes = field.name.length + new TextEncoder().encode(value).length;
    if (sizeBytes > free) {
      warnings.add("headers_cut");
      continue;
    }
    free -= sizeBytes;
    const former = values.get(field.name);
    if (former === undefined) values.set(field.name, [value]);
    else former.push(value);
  }
  return Object.fromEntries(values); // own members, `__proto__` as well
}

/** A value with its encoded words decoded, on one line. */
export function decodedValue(
  raw: Uint8Array,
  field: HeaderField,
  warnings: Set<ParseWarning>,
): string {
  const value = fieldValue(raw, field, () => warnings.add("unknown_charset"));
  const { text, isKnown } = decodeWords(value);
  if (!isKnown) warnings.add("unknown_charset");
  return text === value ? value : withoutControls(text).trim();
}
