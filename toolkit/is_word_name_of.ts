import { wordsOf } from "./word_name.ts";

/**
 * Tells whether a name is one of those that a key can have, with any number of extra adjectives.
 *
 * True does not mean that the key holds the name: another key that derives it may have registered
 * first, and only the relay knows.
 *
 * @param name in any case
 * @param publicKey 32 bytes
 * @throws {TypeError} for a key of another length
 * @see service specification 2.1
 *
 * @example
 * ```ts
 * import { generateKeyPair, isWordNameOf, wordName } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * const { publicKey } = generateKeyPair();
 * assert.equal(isWordNameOf(wordName(publicKey, 4).toUpperCase(), publicKey), true);
 * assert.equal(isWordNameOf("some-other-name", publicKey), false);
 * ```
 */
export function isWordNameOf(name: string, publicKey: Uint8Array): boolean {
  const words = name.split("-");
  const derived = wordsOf(publicKey);
  // The first word that differs ends it, so that a long name from a stranger costs nothing.
  const fits = words.every((word) => asciiLowercase(word) === derived.next().value);
  return fits && words.length >= 3;
}

/** Names ignore the case of ASCII letters only: no other letter may turn into one. */
function asciiLowercase(word: string): string {
  return word.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
