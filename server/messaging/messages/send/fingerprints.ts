/**
 * Which signatures were accepted lately, at 12 bytes each, so that a new one needs no read. A hit is
 * confirmed in the store: memory keeps which row may hold it. A miss is certain where memory is
 * complete for the signed second: where all that the store has of it was added.
 */
import { bucketOf } from "./use_group.ts";

/** Key of the row of a group; null stands for a row of the signature's own. */
export type UseRowKey = Deno.KvKey | null;

/** At 6,000 sends a second a signature window of ten minutes holds 4 million: up to 192 MB. */
const CAPACITY = 4_000_000;
const FIRST_SLOTS = 1024;
const NOWHERE: readonly UseRowKey[] = [];

export interface FingerprintOptions {
  /** 8 random bytes: places in memory that senders cannot choose. */
  seed: Uint8Array;
  capacity?: number;
}

/** The signatures of ten signed seconds. */
interface Bucket {
  /** Until when it is remembered. */
  untilMs: number;
  fingerprints: PlacedNumbers;
  places: UseRowKey[];
  /** False until everything that the store has of it was added. */
  complete: boolean;
}

export class Fingerprints {
  readonly #buckets = new Map<number, Bucket>();
  readonly #capacity: number;
  readonly #seeds: readonly [number, number];
  #size = 0;

  constructor({ seed, capacity = CAPACITY }: FingerprintOptions) {
    const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
    this.#seeds = [view.getInt32(0), view.getInt32(4)];
    this.#capacity = capacity;
  }

  /** Signatures remembered now. */
  get size(): number {
    return this.#size;
  }

  /** Whether every signature of this second that was accepted is remembered. */
  isComplete(timestampSeconds: number): boolean {
    return this.#buckets.get(bucketOf(timestampSeconds))?.complete ?? false;
  }

  /**
   * Remembers from now on what is added for ten seconds, while they are read from the store.
   * @param untilMs by the monotonic clock: then they are forgotten
   * @returns to be called when all that the store has was added
   */
  restore(bucket: number, untilMs: number): () => void {
    const fingerprints = new PlacedNumbers(this.#seeds);
    const restored: Bucket = { untilMs, fingerprints, places: [], complete: false };
    this.forget(bucket);
    this.#buckets.set(bucket, restored);
    return () => {
      restored.complete = true;
    };
  }

  /** Forgets ten seconds, such as those that could not be read. */
  forget(bucket: number): void {
    this.#size -= this.#buckets.get(bucket)?.fingerprints.size ?? 0;
    this.#buckets.delete(bucket);
  }

  /**
   * Adds one to those of its ten seconds. Where these are not in memory, it will be read from the
   * store with the others.
   * @param fingerprint by fingerprintOf()
   * @param place where it is stored, or may be
   */
  add(fingerprint: number, timestampSeconds: number, place: UseRowKey): void {
    const at = bucketOf(timestampSeconds);
    const bucket = this.#buckets.get(at);
    if (bucket === undefined) return;
    const added = bucket.fingerprints.add(fingerprint, indexOf(bucket.places, place));
    if (added) this.#size++;
    while (this.#size > this.#capacity && this.#buckets.size > 1) this.#forgetOldestBut(at);
  }

  /** Rows that may hold the signature; none is certain where isComplete(). */
  placesOf(fingerprint: number, timestampSeconds: number): readonly UseRowKey[] {
    const bucket = this.#buckets.get(bucketOf(timestampSeconds));
    if (!bucket?.fingerprints.has(fingerprint)) return NOWHERE;
    return bucket.fingerprints.placesOf(fingerprint).map((index) => bucket.places[index]!);
  }

  /**
   * Forgets what can no longer pass. That makes nothing look new: forgotten seconds are known to be
   * incomplete, and the store keeps them for longer.
   */
  forgetExpired(elapsedMs: number): void {
    for (const [bucket, { untilMs }] of this.#buckets) if (untilMs < elapsedMs) this.forget(bucket);
  }

  #forgetOldestBut(kept: number): void {
    let oldest = Infinity;
    for (const bucket of this.#buckets.keys()) {
      if (bucket !== kept) oldest = Math.min(oldest, bucket);
    }
    this.forget(oldest);
  }
}

/** Index of a place; those that are stored together come one after the other. */
function indexOf(places: UseRowKey[], place: UseRowKey): number {
  const last = places.length - 1;
  if (last >= 0 && isSame(places[last]!, place)) return last;
  return places.push(place) - 1;
}

function isSame(a: UseRowKey, b: UseRowKey): boolean {
  return a === b || (a !== null && b !== null && a.at(-1) === b.at(-1));
}

/**
 * 52 bits of R, which is as good as random; never 0.
 * @param at where the stored half of a signature begins in these bytes
 */
export function fingerprintOf(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let i = at; i < at + 6; i++) value = value * 256 + bytes[i]!;
  return value * 16 + (bytes[at + 6]! & 15) + 1;
}

/** Open-addressed pairs of an integer other than 0, below 2^53, and a place. */
class PlacedNumbers {
  size = 0;
  #slots = new Float64Array(FIRST_SLOTS);
  #places = new Uint32Array(FIRST_SLOTS);

  constructor(private readonly seeds: readonly [number, number]) {}

  has(value: number): boolean {
    let at = this.#first(value);
    while (this.#slots[at] !== 0 && this.#slots[at] !== value) at = this.#next(at);
    return this.#slots[at] === value;
  }

  placesOf(value: number): number[] {
    const found: number[] = [];
    for (let at = this.#first(value); this.#slots[at] !== 0; at = this.#next(at)) {
      if (this.#slots[at] === value) found.push(this.#places[at]!);
    }
    return found;
  }

  /** @returns false when the pair was there */
  add(value: number, place: number): boolean {
    let at = this.#first(value);
    for (; this.#slots[at] !== 0; at = this.#next(at)) {
      if (this.#slots[at] === value && this.#places[at] === place) return false;
    }
    this.#slots[at] = value;
    this.#places[at] = place;
    if (++this.size * 2 > this.#slots.length) this.#grow();
    return true;
  }

  #first(value: number): number {
    const low = Math.imul((value % 4_294_967_296) ^ this.seeds[0], 0x9e3779b1);
    const high = Math.imul(Math.floor(value / 4_294_967_296) ^ this.seeds[1], 0x85ebca6b);
    const mixed = low ^ high;
    return (mixed ^ (mixed >>> 15)) & (this.#slots.length - 1);
  }

  #next(at: number): number {
    return (at + 1) & (this.#slots.length - 1);
  }

  #grow(): void {
    const slots = this.#slots;
    const places = this.#places;
    this.#slots = new Float64Array(slots.length * 2);
    this.#places = new Uint32Array(slots.length * 2);
    for (let i = 0; i < slots.length; i++) {
      if (slots[i] === 0) continue;
      let at = this.#first(slots[i]!);
      while (this.#slots[at] !== 0) at = this.#next(at);
      this.#slots[at] = slots[i]!;
      this.#places[at] = places[i]!;
    }
  }
}
