/**
 * Sections that were stored just now and are about to be read, each so many times: their readers need no file,
 * and no hash of it. What is pushed out, or too large, is read like everything else.
 */

/** All together; a usual mail with files is among them. */
const ALL_BYTES = 16 * 2 ** 20;

interface Lent {
  bytes: Uint8Array<ArrayBuffer>;
  times: number;
}

export class LentBytes {
  /** The oldest first. */
  readonly #lent = new Map<string, Lent>();
  #sizeBytes = 0;

  /** @param bytes not to be changed any more @param times 0 takes back what was lent */
  lend(name: string, bytes: Uint8Array<ArrayBuffer>, times: number): void {
    if (this.#lent.has(name)) this.#drop(name);
    if (bytes.length > ALL_BYTES || times < 1) return;
    this.#lent.set(name, { bytes, times });
    this.#sizeBytes += bytes.length;
    for (const oldest of this.#lent.keys()) {
      if (this.#sizeBytes <= ALL_BYTES) return;
      this.#drop(oldest);
    }
  }

  /** Null for what has to be read. */
  take(name: string): Uint8Array<ArrayBuffer> | null {
    const lent = this.#lent.get(name);
    if (lent === undefined) return null;
    if (--lent.times === 0) this.#drop(name);
    return lent.bytes;
  }

  #drop(name: string): void {
    this.#sizeBytes -= this.#lent.get(name)!.bytes.length;
    this.#lent.delete(name);
  }
}
