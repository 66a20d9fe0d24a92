/** Ids of mail objects: a prefix and a ULID, whose text sorts by the time at which it was made. */

/** Prefixes (specification, 2.11). */
export type MailIdPrefix = "org" | "ibx" | "msg" | "thr" | "key" | "wh" | "dft";

/** Crockford's base32. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_DIGITS = 10;
const RANDOM_BYTES = 16;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/**
 * A ULID: 48 bits of time and 80 random ones, as 26 characters (github.com/ulid/spec).
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

/** A new id, as in "org_01JD...". Parameters as makeUlid(). */
export function makeMailId(
  prefix: MailIdPrefix,
  nowMs: number,
  random: (sizeBytes: number) => Uint8Array,
): string {
  return `${prefix}_${makeUlid(nowMs, random)}`;
}

/** When an id was made, unix ms. */
export function timeOfMailId(id: string): number {
  let timeMs = 0;
  for (const digit of id.slice(id.indexOf("_") + 1).slice(0, TIME_DIGITS)) {
    timeMs = timeMs * 32 + DIGITS.indexOf(digit);
  }
  return timeMs;
}

/** The least id of a prefix that is made at a time or later: where a range of rows begins. */
export function leastMailId(prefix: MailIdPrefix, timeMs: number): string {
  return `${prefix}_${makeUlid(timeMs, (sizeBytes) => new Uint8Array(sizeBytes))}`;
}

/** Whether text has the form of an id with this prefix. */
export function isMailId(prefix: MailIdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ULID.test(text.slice(prefix.length + 1));
}
