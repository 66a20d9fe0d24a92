import { base64urlnopad } from "@scure/base";
import { sha256Of } from "../slices/sha256_of.ts";

/** Bytes that are hashed in one turn of the event loop, or two. */
const SMALL_BYTES = 2 ** 20;

/** SHA-256 of sections, made in slices: large ones one after the other, so that their slices do not come together. */
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
