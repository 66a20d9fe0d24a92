/**
 * Which signatures were accepted lately, at 8 bytes each, so that a new one needs no read. A hit is
 * confirmed in the store. A miss is certain unless signatures of that time had to be dropped.
 */
import type { SignatureUse } from "../../agents/signature_use.ts";

type Use = Pick<SignatureUse, "signature" | "timestampSeconds">;

/** Signatures of so many signed seconds are forgotten together. */
const BUCKET_SECONDS = 10;
/** At 6,000 sends a second a signature window of ten minutes holds 4 million: up to 128 MB. */
const CAPACITY = 4_000_000;
const FIRST_SLOTS = 1024;

export interface FingerprintOptions {
  /** Milliseconds after its signed second in which a signature can still pass. */
  keptMs: number;
  /** 8 random bytes: places in memory that senders cannot choose. */
  seed: Uint8Array;
  capacity?: number;
}

export class Fingerprints {
  readonly #buckets = new Map<number, NumberSet>();
  readonly #keptMs: number;
  readonly #capacity: number;
  readonly #seeds: readonly [number, number];
  #forgottenUpTo = -Infinity;
  #size = 0;

  constructor({ keptMs, seed, capacity = CAPACITY }: FingerprintOptions) {
    const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
    this.#seeds = [view.getInt32(0), view.getInt32(4)];
    this.#keptMs = keptMs;
    this.#capacity = capacity;
  }

  /** Signatures remembered now. */
  get size(): number {
    return this.#size;
  }

  add(use: Use): void {
    const bucket = bucketOf(use.timestampSeconds);
    let set = this.#buckets.get(bucket);
    if (set === undefined) this.#buckets.set(bucket, set = new NumberSet(this.#seeds));
    if (set.add(fingerprint(use.signature))) this.#size++;
    while (this.#size > this.#capacity && this.#buckets.size > 1) {
      this.#forget(Math.min(...this.#buckets.keys()));
    }
  }

  /** Whether the signature may have been added; false is certain where isComplete(). */
  mayHave({ signature, timestampSeconds }: Use): boolean {
    return this.#buckets.get(bucketOf(timestampSeconds))?.has(fingerprint(signature)) ?? false;
  }

  /** Whether every signature of this second that was added is still remembered. */
  isComplete(timestampSeconds: number): boolean {
    return timestampSeconds > this.#forgottenUpTo;
  }

  /**
   * Forgets what can no longer pass. A clock that jumps ahead and back makes nothing new by it: what
   * was forgotten is known as incomplete, and the store has it for longer.
   */
  forgetExpired(nowMs: number): void {
    for (const bucket of this.#buckets.keys()) {
      const endSeconds = (bucket + 1) * BUCKET_SECONDS;
      if (endSeconds * 1000 + this.#keptMs < nowMs) this.#forget(bucket);
    }
  }

  #forget(bucket: number): void {
    this.#size -= this.#buckets.get(bucket)!.size;
    this.#buckets.delete(bucket);
    this.#forgottenUpTo = Math.max(this.#forgottenUpTo, (bucket + 1) * BUCKET_SECONDS - 1);
  }
}

function bucketOf(timestampSeconds: number): number {
  return Math.floor(timestampSeconds / BUCKET_SECONDS);
}

/** 52 bits of R, which is as good as random; never 0. */
function fingerprint(signature: Uint8Array): number {
  let value = 0;
  for (let i = 0; i < 6; i++) value = value * 256 + signature[i]!;
  return value * 16 + (signature[6]! & 15) + 1;
}

/** Open-addressed set of integers other than 0, below 2^53. */
class NumberSet {
  size = 0;
  #slots = new Float64Array(FIRST_SLOTS);

  constructor(private readonly seeds: readonly [number, number]) {}

  has(value: number): boolean {
    return this.#slots[this.#find(value)] === value;
  }

  /** @returns false when it was there */
  add(value: number): boolean {
    const at = this.#find(value);
    if (this.#slots[at] === value) return false;
    this.#slots[at] = value;
    if (++this.size * 2 > this.#slots.length) this.#grow();
    return true;
  }

  #find(value: number): number {
    const mask = this.#slots.length - 1;
    const low = Math.imul((value % 4_294_967_296) ^ this.seeds[0], 0x9e3779b1);
    const high = Math.imul(Math.floor(value / 4_294_967_296) ^ this.seeds[1], 0x85ebca6b);
    const mixed = low ^ high;
    let at = (mixed ^ (mixed >>> 15)) & mask;
    while (this.#slots[at] !== 0 && this.#slots[at] !== value) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Float64Array(old.length * 2);
    for (const value of old) if (value !== 0) this.#slots[this.#find(value)] = value;
  }
}
