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
}

/**
 * Results that are given again for a while, and no more of them than a capacity. No RecordCache: what is
 * here may be old, while that has what the store holds.
 */
export class KeptResults<T> {
  readonly #kept: BoundedMap<string, Kept<T>>;
  /** Results being made: no other name takes the place of one that is waited for. */
  readonly #making = new Map<string, Kept<T>>();

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
    const beganMs = this.now();
    const making = this.#making.get(name);
    const kept = making ?? this.#kept.get(name);
    if (kept?.revision === revision) {
      const ageMs = beganMs - kept.beganMs;
      // A clock that was set back keeps nothing for ever.
      if (ageMs >= 0 && ageMs < (making === undefined ? maxAgeMs : maxMakingMs)) return kept.result;
    }
    const made: Kept<T> = { result: make(), revision, beganMs };
    this.#making.set(name, made);
    const end = () => this.#making.get(name) === made && this.#making.delete(name);
    made.result.then(() => void (end() && this.#kept.set(name, made)), end);
    return made.result;
  }
}
