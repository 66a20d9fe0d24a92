/**
 * A fixed number of short texts as bytes, one behind the other in any order: the garbage collector
 * never walks them.
 */
const encoder = new TextEncoder();
/** A UTF-16 unit as UTF-8. */
const MAX_UNIT_BYTES = 3;
const decoder = new TextDecoder();

export class PackedTexts {
  #bytes = new Uint8Array(0);
  #used = 0;
  readonly #starts: Uint32Array;
  readonly #lengths: Uint32Array;

  /** @param count of texts, all empty at first */
  constructor(count: number) {
    this.#starts = new Uint32Array(count);
    this.#lengths = new Uint32Array(count);
  }

  get(at: number): string {
    const start = this.#starts[at]!;
    return decoder.decode(this.#bytes.subarray(start, start + this.#lengths[at]!));
  }

  set(at: number, text: string): void {
    this.#cut(at);
    const most = this.#used + MAX_UNIT_BYTES * text.length;
    if (most > this.#bytes.length) {
      const grown = new Uint8Array(Math.ceil(1.25 * most));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.#used));
    this.#starts[at] = this.#used;
    this.#lengths[at] = written;
    this.#used += written;
  }

  /** Whether a text holds some bytes of UTF-8. */
  holds(at: number, sought: Uint8Array): boolean {
    const bytes = this.#bytes;
    const { length } = sought;
    const start = this.#starts[at]!;
    const lastStart = start + this.#lengths[at]! - length;
    const first = sought[0];
    for (let from = start; from <= lastStart; from++) {
      if (bytes[from] !== first && length > 0) continue;
      let same = 1;
      while (same < length && bytes[from + same] === sought[same]) same++;
      if (same >= length) return true;
    }
    return false;
  }

  /** Takes a text out, and moves those behind it. */
  #cut(at: number): void {
    const start = this.#starts[at]!;
    const length = this.#lengths[at]!;
    if (length === 0) return;
    this.#bytes.copyWithin(start, start + length, this.#used);
    this.#used -= length;
    this.#lengths[at] = 0;
    for (let i = 0; i < this.#starts.length; i++) {
      if (this.#starts[i]! > start) this.#starts[i]! -= length;
    }
  }
}
