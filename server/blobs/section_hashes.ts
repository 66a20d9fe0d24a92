import { base64urlnopad } from "@scure/base";
import { sha256Of } from "../http/sha256_of.ts";

/** Bytes whose copy takes the main thread no time worth mentioning. */
const SMALL_BYTES = 2 ** 20;

/**
 * SHA-256 of sections, of all but small ones made on another thread. The runtime copies the bytes on this one first, some
 * 5 to 15 ms for 25 MiB, so that large ones are given to it one after the other.
 */
export class SectionHashes {
  #last: Promise<unknown> = Promise.resolve();

  /** @returns SHA-256, base64url without padding */
  async of(bytes: Uint8Array): Promise<string> {
    if (bytes.length <= SMALL_BYTES) return await sha256(bytes);
    const hash = this.#last.then(() => sha256(bytes));
    this.#last = hash.catch(() => {});
    return await hash;
  }
}

async function sha256(bytes: Uint8Array): Promise<string> {
  return base64urlnopad.encode(await sha256Of(bytes));
}
