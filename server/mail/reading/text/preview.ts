/** The line by which a list shows a message. */

const PREVIEW_CODE_POINTS = 200;

/**
 * The first 200 code points of a text, its white space collapsed; "" of none. A pair of surrogates
 * is never cut. Reads no more of the text than it needs.
 * @param extracted the text without quoted former messages, null where a message has none
 */
export function previewOf(extracted: string | null): string {
  if (extracted === null) return "";
  let line = "";
  // A code point has at most two code units.
  for (const [word] of extracted.matchAll(/\S+/g)) {
    line += (line === "" ? "" : " ") + word.slice(0, 2 * PREVIEW_CODE_POINTS);
    if (line.length >= 2 * PREVIEW_CODE_POINTS) break;
  }
  return [...line].slice(0, PREVIEW_CODE_POINTS).join("");
}
