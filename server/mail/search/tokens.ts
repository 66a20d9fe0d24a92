/**
 * What searches compare: runs of letters, numbers and marks in NFKC, lowercased, without diacritics;
 * runs of scripts that are written without spaces as overlapping pairs (docs/mail.md). Text and
 * queries are cut alike. Pure.
 */

export interface Token {
  value: string;
  /** Where it stands in the text, in UTF-16 units; for one that NFKC has moved, the run it stands in. */
  start: number;
  end: number;
}

/**
 * Runs with all that can become letters in NFKC, such as U+338F, "kg". A longer run is cut, so that
 * each step is short: no query is as long.
 */
const RUN = /[\p{L}\p{N}\p{M}\p{So}]{1,1024}/gu;
const ASCII_RUN = /[A-Za-z0-9]{1,1024}/g;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, with the signs that they share. */
const UNSPACED =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}]+/gu;
/** Marks of any script and Hebrew points; the voicing marks of kana make other letters, and stay. */
const DIACRITIC = /[[[\p{Mn}&&\p{sc=Zinh}]--[\u3099\u309a]][\p{Mn}&&\p{sc=Hebr}]]/gv;
// deno-lint-ignore no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/** The tokens of a text in their order; the next one is found when it is asked for. */
export function* tokensOf(text: string): Generator<Token> {
  for (const match of matchesOf(ASCII.test(text) ? ASCII_RUN : RUN, text)) {
    const [run] = match;
    const start = match.index;
    const end = start + run.length;
    if (ASCII.test(run)) {
      yield { value: run.toLowerCase(), start, end };
      continue;
    }
    const folded = fold(run);
    const isInPlace = folded.length === run.length;
    for (const [value, at] of piecesOf(folded)) {
      yield isInPlace
        ? { value, start: start + at, end: start + at + value.length }
        : { value, start, end };
    }
  }
}

/** As matchAll(), which compiles a new expression each time: Unicode classes take long to compile. */
function* matchesOf(expression: RegExp, text: string): Generator<RegExpExecArray> {
  for (let at = 0;;) {
    expression.lastIndex = at; // others use it between two steps
    const match = expression.exec(text);
    if (match === null) return;
    at = expression.lastIndex;
    yield match;
  }
}

/** A text that contains every token; much cheaper to make than its tokens. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKC").toLowerCase().normalize("NFD").replaceAll(DIACRITIC, "")
    .normalize("NFC").replaceAll("\u03c2", "\u03c3"); // a sigma at the end of a word is one too
}

function* piecesOf(folded: string): Generator<[value: string, at: number]> {
  for (const word of matchesOf(WORD, folded)) {
    let done = 0;
    for (const unspaced of matchesOf(UNSPACED, word[0])) {
      if (unspaced.index > done) yield [word[0].slice(done, unspaced.index), word.index + done];
      yield* pairsOf(unspaced[0], word.index + unspaced.index);
      done = unspaced.index + unspaced[0].length;
    }
    if (done < word[0].length) yield [word[0].slice(done), word.index + done];
  }
}

/** Overlapping pairs of code points; a single one by itself. */
function* pairsOf(run: string, at: number): Generator<[value: string, at: number]> {
  const characters = [...run];
  if (characters.length === 1) yield [run, at];
  for (let i = 0; i + 1 < characters.length; i++) {
    yield [characters[i]! + characters[i + 1]!, at];
    at += characters[i]!.length;
  }
}
