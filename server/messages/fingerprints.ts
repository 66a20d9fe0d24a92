/**
 * Which signatures were accepted lately, at 8 bytes each, so that a new one needs no read: a hit is
 * confirmed in the store, a miss is certain.
 */

const BUCKET_MS = 60_000;
const FIRST_CAPACITY = 1024;

/** Open-addressed set of doubles other than 0. */
class NumberSet {
  #slots = new Float64Array(FIRST_CAPACITY);
  #size = 0;

  has(value: number): boolean {
    return this.#slots[this.#find(value)] === value;
  }

  add(value: number): void {
    const at = this.#find(value);
    if (this.#slots[at] === value) return;
    this.#slots[at] = value;
    if (++this.#size * 2 > this.#slots.length) this.#grow();
  }

  #find(value: number): number {
    const mask = this.#slots.length - 1;
    let at = (value % 4_294_967_291) & mask;
    while (this.#slots[at] !== 0 && this.#slots[at] !== value) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Float64Array(old.length * 2);
    for (const value of old) if (value !== 0) this.#slots[this.#find(value)] = value;
  }
}

export class Fingerprints {
  readonly #buckets = new Map<number, NumberSet>();

  /** Remembers a 64-byte signature until a time in unix ms. */
  add(signature: Uint8Array, keepUntilMs: number): void {
    const bucket = Math.ceil(keepUntilMs / BUCKET_MS);
    let set = this.#buckets.get(bucket);
    if (set === undefined) this.#buckets.set(bucket, set = new NumberSet());
    set.add(fingerprint(signature));
  }

  /** Whether the signature may have been added; false is certain. */
  mayHave(signature: Uint8Array): boolean {
    const value = fingerprint(signature);
    for (const set of this.#buckets.values()) if (set.has(value)) return true;
    return false;
  }

  /** Forgets what need not be remembered any more. */
  sweep(nowMs: number): void {
    for (const bucket of this.#buckets.keys()) {
      // An hour of margin: a clock that jumps ahead and back must not make a replay new.
      if (bucket * BUCKET_MS < nowMs - 3_600_000) this.#buckets.delete(bucket);
    }
  }
}

/** 52 bits of R, which is as good as random; never 0. */
function fingerprint(signature: Uint8Array): number {
  let value = 0;
  for (let i = 0; i < 6; i++) value = value * 256 + signature[i]!;
  return value * 16 + (signature[6]! & 15) + 1;
}
