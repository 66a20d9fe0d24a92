/** Fields of text in request bodies: lengths in code points, and what a line may not hold. Pure. */
import { invalidJson } from "../../errors.ts";

/** C0, DEL, C1, line and paragraph separator, bidi controls: they forge what a reader sees. */
export const CONTROLS =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/**
 * One line of text.
 * @returns it trimmed
 * @throws RelayError `invalid_json` naming the field
 */
export function cleanLine(field: string, given: unknown, maxCodePoints: number): string {
  const text = trimmedText(field, given, maxCodePoints);
  if (!CONTROLS.test(text)) return text;
  throw invalidJson(
    `${field} must not hold control characters, line breaks or text direction controls`,
  );
}

/** @returns the trimmed text. @throws RelayError `invalid_json` naming the field */
export function trimmedText(field: string, given: unknown, maxCodePoints: number): string {
  if (typeof given !== "string") throw invalidJson(`${field} must be a string`);
  const text = given.trim();
  // A code point has at most two code units: most texts need no count.
  if (text.length > maxCodePoints && [...text].length > maxCodePoints) {
    throw invalidJson(`${field} must be at most ${maxCodePoints} characters after trimming`);
  }
  return text;
}
