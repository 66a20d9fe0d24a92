import { sha256 } from "@noble/hashes/sha2.js";
import { adjectives, animals, colors } from "../wordlists/mod.ts";
import { PUBLIC_KEY_BYTES } from "./encode_address.ts";

/**
 * Derives the word name of a public key: adjective-color-animal, further adjectives after them.
 *
 * A name is easy to remember and no proof of identity. There are 2^30 short names, and a key for a
 * chosen one can be found in hours. If two keys derive the same name, the relay gives it to the
 * first that registers. Offline that cannot be known.
 *
 * @param publicKey 32 bytes
 * @param adjectiveCount how many adjectives, from 1; a relay uses the smallest that makes a name
 * unique
 * @throws {TypeError} for a key of another length
 * @throws {RangeError} for a count that is no whole number from 1
 * @see service specification 2.1
 *
 * @example
 * ```ts
 * import { decodeAddress, isWordNameOf, wordName } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * const publicKey = decodeAddress("FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z");
 * assert.equal(wordName(publicKey).split("-").length, 3);
 * assert.ok(wordName(publicKey, 2).startsWith(wordName(publicKey) + "-"));
 * assert.ok(isWordNameOf(wordName(publicKey, 2), publicKey));
 * ```
 */
export function wordName(publicKey: Uint8Array, adjectiveCount = 1): string {
  if (!Number.isSafeInteger(adjectiveCount) || adjectiveCount < 1) {
    throw new RangeError("A word name has a whole number of adjectives, at least 1");
  }
  const words: string[] = [];
  for (const word of wordsOf(publicKey)) {
    words.push(word);
    if (words.length === adjectiveCount + 2) break;
  }
  return words.join("-");
}

/** The endless sequence of words that a key's names begin with: adjective, color, animal, then adjectives. */
export function* wordsOf(publicKey: Uint8Array): Generator<string, never> {
  if (publicKey.length !== PUBLIC_KEY_BYTES) {
    throw new TypeError(`A public key has 32 bytes, not ${publicKey.length}`);
  }
  let digest = sha256(publicKey);
  for (let position = 0;; digest = sha256(digest)) {
    for (let i = 0; i < digest.length; i += 2, position++) {
      const list = position === 1 ? colors : position === 2 ? animals : adjectives;
      yield list[(digest[i]! * 256 + digest[i + 1]!) % list.length]!;
    }
  }
}
