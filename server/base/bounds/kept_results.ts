import { BoundedMap } from "./bounded_map.ts";

export interface KeptFor {
  /** How long a result is given again, from when its making began. */
  maxAgeMs: number;
  /** How long others wait for one that is being made; for as long as it takes unless given. */
  maxMakingMs?: number;
  /** What is made of; a result of another one is not given. */
  revision?: number;
}

interface Kept<T> {
  result: Promise<T>;
  revision: number;
  beganMs: number;
  isMade: boolean;
}

/**
 * Results that are given again for a while, and no more of them than a capacity. No RecordCache: what is
 * here may be old, while that has what the store holds.
 */
export class KeptResults<T> {
  readonly #kept: BoundedMap<string, Kept<T>>;

  /** @param capacity results that are kept */
  constructor(private readonly now: () => number, capacity: number) {
    this.#kept = new BoundedMap(capacity);
  }

  /**
   * The result of a name, made again where the one at hand is too old. Who asks while it is made
   * waits for it.
   * @throws what making it throws; it is not kept
   */
  get(
    name: string,
    { maxAgeMs, maxMakingMs = Infinity, revision = 0 }: KeptFor,
    make: () => Promise<T>,
  ): Promise<T> {
    const kept = this.#kept.get(name);
    const beganMs = this.now();
    if (kept?.revision === revision) {
      const ageMs = beganMs - kept.beganMs;
      // A clock that was set back keeps nothing for ever.
      if (ageMs >= 0 && ageMs < (kept.isMade ? maxAgeMs : maxMakingMs)) return kept.result;
    }
    const made: Kept<T> = { result: make(), revision, beganMs, isMade: false };
    this.#kept.set(name, made);
    made.result.then(() => made.isMade = true, () => {
      if (this.#kept.get(name) === made) this.#kept.delete(name);
    });
    return made.result;
  }
}
