/**
 * The hashes under which an area stores its tokens, as hashToken() makes them. The runtime makes
 * SHA-256 in hex for less than in base64url, so recent ones are found by their hex. A hash found
 * again is the same string, which maps look up without reading it. No token is kept.
 */
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { BoundedMap } from "../../bounds/bounded_map.ts";

/** 2 MB. */
const REMEMBERED = 10_000;

export class TokenHashes {
  readonly #byHex: BoundedMap<string, string>;

  /** @param capacity hashes that are kept */
  constructor(capacity = REMEMBERED) {
    this.#byHex = new BoundedMap(capacity);
  }

  /** SHA-256 of a token, base64url. */
  of(token: string): string {
    const hex = hash("sha256", token, "hex");
    const known = this.#byHex.get(hex);
    if (known !== undefined) return known;
    const made = Buffer.from(hex, "hex").toString("base64url");
    this.#byHex.set(hex, made);
    return made;
  }
}
