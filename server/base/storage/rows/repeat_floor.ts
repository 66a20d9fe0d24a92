/**
 * The floor of a store: the highest second whose rows, which tell repetitions, may have been deleted.
 * What was signed at or below it, and has no row, may have been accepted before. The store's own expiry
 * does not delete such rows, since it follows a clock that may leap: a sweep raises the floor, waits
 * until no commit rests on a lower one, and deletes then.
 *
 * A floor is known by the version of its row, as versions of a shared store only grow: the floor itself may
 * be lowered (RELAY_CLOCK_CHECK=off). On an exclusive store each version that this process writes is above
 * those before; the one that the row has once the journal has saved it is not.
 */
import type { Rows } from "./rows.ts";
import { defineRow } from "./row_key.ts";

export const FLOOR_KEY = defineRow(["sig-floor"], 0, {
  holds: "the newest signed second of which rows of signatures may have been swept: what is " +
    "signed at or below it and has no row is refused",
})();

export interface FloorRow {
  v: 1;
  second: number;
}

/** The version of a floor that no store has written yet. */
const NO_VERSION = "";

export class RepeatFloor {
  #second = -Infinity;
  #version = NO_VERSION;
  /** How many commits under way were planned upon which version. */
  readonly #underWay = new Map<string, number>();

  constructor(private readonly rows: Pick<Rows, "get" | "transact">) {}

  /** Unix time in seconds, as this process knows it. */
  get second(): number {
    return this.#second;
  }

  /** Names what this process knows. */
  get version(): string {
    return this.#version;
  }

  /** The newest version on which everything rests that this process may still commit. */
  get acknowledged(): string {
    let oldest = this.#version;
    for (const version of this.#underWay.keys()) if (version < oldest) oldest = version;
    return oldest;
  }

  /**
   * A commit that was planned just now is under way.
   * @returns call it once the commit is known to have ended
   */
  enter(): () => void {
    const version = this.#version;
    this.#underWay.set(version, (this.#underWay.get(version) ?? 0) + 1);
    return () => {
      const left = this.#underWay.get(version)! - 1;
      if (left === 0) this.#underWay.delete(version);
      else this.#underWay.set(version, left);
    };
  }

  /** Reads what the store has. */
  async learn(): Promise<void> {
    const { value, versionstamp } = await this.rows.get<FloorRow>(FLOOR_KEY);
    // Reads may answer in another order than they were made.
    if (versionstamp === null || versionstamp <= this.#version) return;
    this.#version = versionstamp;
    this.#second = value!.second;
  }

  /** Raises it in the store, where it lies lower, and learns what the store has then. */
  async raise(second: number): Promise<void> {
    await this.#replace((known) => second > known ? second : null);
  }

  /**
   * Takes up the store's floor.
   * @param check false for RELAY_CLOCK_CHECK=off: a floor ahead of the clock is lowered to it
   * @returns a note for the operator, null when there is none
   */
  async open(nowMs: number, check: boolean): Promise<string | null> {
    await this.learn();
    const nowSecond = Math.floor(nowMs / 1000);
    if (this.#second <= nowSecond) return null;
    const text = new Date(this.#second * 1000).toISOString().replace(".000", "");
    if (check) {
      return `what is signed for a time up to ${text} is refused until the clock has passed it: a clock that was ` +
        "ahead had the relay forget what it accepted until then; a start with RELAY_CLOCK_CHECK=off ends the wait";
    }
    await this.#replace((known) => known > nowSecond ? nowSecond : null);
    return `RELAY_CLOCK_CHECK is off: signatures for a time up to ${text} are taken from now on, though one that ` +
      "was accepted while the clock was ahead may be taken again";
  }

  /** @param next the floor after the one that the store has, null to leave it */
  async #replace(next: (known: number) => number | null): Promise<void> {
    await this.rows.transact(async (transaction) => {
      const { value } = await transaction.get<FloorRow>(FLOOR_KEY);
      const second = next(value?.second ?? -Infinity);
      if (second !== null) transaction.set(FLOOR_KEY, { v: 1, second } satisfies FloorRow);
    });
    await this.learn();
  }
}
