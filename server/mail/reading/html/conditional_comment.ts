/** Conditional comments: what they hold is shown by some mail programs. Pure; linear. */

/** Letters and digits, except the Korean fillers, which are invisible. */
export const LETTERS = /(?![\u115f\u1160\u3164\uffa0])[\p{L}\p{N}]/u;

/** Whether letters or digits stand in what a conditional comment has for its programs. */
export function hasWords(comment: string): boolean {
  let skipped = "";
  for (const [piece] of comment.replace(/^\s*\[if[^\]]*\]>?/i, "").matchAll(/<[^<>]*>?|[^<]+/g)) {
    const name = /^<\/?([a-z0-9:]{1,40})/i.exec(piece)?.[1]?.toLowerCase();
    if (!piece.startsWith("<")) {
      if (skipped === "" && LETTERS.test(piece.replaceAll(/&#?[a-z0-9]{1,20};/gi, ""))) return true;
    } else if (skipped === "" && /^(?:style|xml|script)$/.test(name ?? "")) skipped = name!;
    else if (name === skipped && piece.startsWith("</")) skipped = "";
  }
  return false;
}
