/** ULIDs: names whose text sorts by the time at which they were made (github.com/ulid/spec). */

/** Crockford's base32. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_DIGITS = 10;
const RANDOM_BYTES = 16;

/** The one spelling of a ULID, 26 characters. */
export const ULID_PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/**
 * A ULID: 48 bits of time and 80 random ones, as 26 characters.
 * @param nowMs unix ms
 * @param random cryptographically random bytes
 */
export function makeUlid(nowMs: number, random: (sizeBytes: number) => Uint8Array): string {
  let text = "";
  for (let left = nowMs, i = 0; i < TIME_DIGITS; i++, left = Math.floor(left / 32)) {
    text = DIGITS[left % 32] + text;
  }
  for (const byte of random(RANDOM_BYTES)) text += DIGITS[byte & 31];
  return text;
}

/**
 * Unix ms at which a ULID was made, or the first ms of those that begin so.
 * @param text a ULID, or its first characters
 */
export function ulidTimeMs(text: string): number {
  let timeMs = 0;
  for (let i = 0; i < TIME_DIGITS; i++) {
    timeMs = timeMs * 32 + (i < text.length ? DIGITS.indexOf(text[i]!) : 0);
  }
  return timeMs;
}

/**
 * A ULID above another, so that ids ascend whatever the clock does.
 * @param above null where any will do
 */
export function makeUlidAbove(
  above: string | null,
  nowMs: number,
  random: (sizeBytes: number) => Uint8Array,
): string {
  const made = makeUlid(nowMs, random);
  return above === null || made > above ? made : increment(above);
}

/** The next ULID in the order of text: as the digits of a number. */
function increment(ulid: string): string {
  const digits = [...ulid];
  for (let i = digits.length - 1; i >= 0; i--) {
    const value = DIGITS.indexOf(digits[i]!) + 1;
    digits[i] = DIGITS[value % DIGITS.length]!;
    if (value < DIGITS.length) break;
  }
  return digits.join("");
}
