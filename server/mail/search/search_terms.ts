/** What `q` of a search asks for. Pure. */
import { invalidJson } from "../../base/errors.ts";
import { tokensOf } from "./tokens.ts";

/** Tokens that stand next to each other. */
export type Term = readonly string[];

/** Code points. */
export const MAX_QUERY = 500;

/**
 * The terms of a query, which must all match: words between white space, and phrases in double
 * quotes. An unpaired quote is white space; there is no other operator. A word without a token is no
 * term.
 * @throws RelayError `invalid_json` for more than 500 characters
 */
export function termsOf(q: string): Term[] {
  if (q.length > MAX_QUERY && [...q].length > MAX_QUERY) {
    throw invalidJson(`q must be at most ${MAX_QUERY} characters`);
  }
  const parts = q.split('"');
  const isUnbalanced = parts.length % 2 === 0;
  const texts = parts.flatMap((part, i) => {
    const isPhrase = i % 2 === 1 && !(isUnbalanced && i === parts.length - 1);
    return isPhrase ? [part] : part.split(/\s+/);
  });
  return texts.map((text) => Array.from(tokensOf(text), ({ value }) => value))
    .filter((tokens) => tokens.length > 0);
}
