/** Characters that a program reads and nobody sees. Pure; linear in the text's length. */

const INVISIBLE =
  /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069]|[\u200b-\u200d\u2060\ufeff]{2,}/gu;

/** The text without them, and whether there were any. */
export function removeInvisible(text: string): { text: string; removed: boolean } {
  const without = text.replaceAll(INVISIBLE, "");
  return { text: without, removed: without.length !== text.length };
}
