/** The bytes of a message as they come: many small pieces take no more room than a few large ones. */
import { joinInSlices } from "../../../base/http/bodies/gather_bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const FIRST_BYTES = 4 * 1024;
/** As much again as has come, at most so much. */
const NEXT_BYTES = 64 * 1024;

export class MessageBytes {
  #full: Bytes[] = [];
  #open: Bytes = new Uint8Array(FIRST_BYTES);
  #filled = 0;
  #sizeBytes = 0;

  /** Copies the piece, whose buffer may be another's. */
  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length;) {
      if (this.#filled === this.#open.length) {
        this.#full.push(this.#open);
        this.#open = new Uint8Array(Math.min(NEXT_BYTES, this.#sizeBytes));
        this.#filled = 0;
      }
      const part = piece.subarray(at, at + this.#open.length - this.#filled);
      this.#open.set(part, this.#filled);
      this.#filled += part.length;
      this.#sizeBytes += part.length;
      at += part.length;
    }
  }

  /** All of it behind a beginning; nothing is left here. */
  async takeAfter(beginning: Bytes): Promise<Bytes> {
    const pieces = [beginning, ...this.#full, this.#open.subarray(0, this.#filled)];
    this.drop();
    return await joinInSlices(pieces);
  }

  drop(): void {
    this.#full = [];
    this.#open = new Uint8Array(0);
    this.#filled = 0;
  }
}
