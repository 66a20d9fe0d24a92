/** Characters that programs read and people do not see. Pure; linear in the text's length. */

/**
 * Tags (U+E0000-E007F), embeddings, overrides and isolates of text direction, what has no width, and
 * what picks the form of the character before it. The flags of England, Scotland and Wales, which tags
 * spell, come first: they stay.
 */
const INVISIBLE =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}|[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\u{e0100}-\u{e01ef}]+/gu;
/** One that joins or parts letters (Persian, Indic), or joins emoji, or picks the form of one. */
const WITH_A_MEANING =
  /^(?:[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}])?[\u180e\u200b-\u200f\u2060-\u2064\ufeff]?$/u;

/**
 * The text without what is invisible, and whether there was any: tags, bidi embeddings, overrides and
 * isolates, and every run of two or more characters without width. A single one of these stays: it
 * joins emoji and has a meaning in Persian and Indic scripts. So does one behind a variation selector.
 */
export function removeInvisible(text: string): { text: string; removed: boolean } {
  // A whole run goes at once, so that nothing is left that would make another one.
  const seen = text.replaceAll(
    INVISIBLE,
    (run) => WITH_A_MEANING.test(run) || run.startsWith("\u{1f3f4}") ? run : "",
  );
  return { text: seen, removed: seen.length !== text.length };
}
