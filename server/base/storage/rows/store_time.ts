/**
 * What a store knows of time: the newest at which it was used, which gives a wrong clock away at a start,
 * and how long relays have run on it.
 */
import { DAY_MS, MINUTE_MS } from "../../time/time_units.ts";
import type { ClockWatch } from "./clock_watch.ts";
import type { Store } from "./store.ts";
import { defineRow } from "./row_key.ts";

/**
 * The newest wall time of use, unix ms: only ever written by a clock that was relied on, and taken back
 * only to a day ahead of one that leapt back.
 */
const NEWEST_KEY = defineRow(["meta", "clock"], 0, {
  holds: "the newest time of use by a clock that was relied on, each minute: what a clock " +
    "that is behind is told by",
})();
/** Ms lived; absent in stores of former versions, which is 0. */
const LIVED_KEY = defineRow(["meta", "lived"], 0, {
  holds: "ms for which relays have run on this store, by their monotonic clocks, after 10 s " +
    "and then each minute: never more than has passed",
})();
/** A relay does not start with a clock further behind the newest time, and remarks on one as far ahead. */
const FAR_MS = DAY_MS;
const WRITE_EVERY_MS = MINUTE_MS;
/** The first time after so long: many processes of a hosted store live for seconds. */
const FIRST_WRITE_MS = 10_000;

/** The clock is far behind the store. The message says what to do. */
export class ClockBehindError extends Error {
  override readonly name = "ClockBehindError";
  constructor(nowMs: number, newestMs: number) {
    super(
      `the clock says ${utc(nowMs)}, and the store was in use at ${
        utc(newestMs)
      }: set the clock right; ` +
        "if it is right, and was wrong then, start once with RELAY_CLOCK_CHECK=off",
    );
  }
}

export class StoreTime {
  /** What was lived when the monotonic clock showed 0. */
  #livedAtZeroMs = 0;
  /** Ms since both were written, and after how many of them they are written again. */
  #passedMs: () => number = () => Infinity;
  #writeAfterMs = FIRST_WRITE_MS;
  #refreshing: Promise<void> | null = null;

  constructor(
    private readonly store: Pick<Store, "getMany" | "transact" | "elapsed" | "clock">,
  ) {}

  /**
   * Compares the clock with the store's newest time, tells the watch of it, and takes up the count of
   * what was lived.
   * @param check false for RELAY_CLOCK_CHECK=off: the clock is taken at its word
   * @returns a note for the operator, null when there is none
   * @throws ClockBehindError
   */
  async open(check: boolean): Promise<string | null> {
    const { store } = this;
    const { elapsed, clock } = store;
    const [newest, lived] = await store.getMany<[number, number]>([NEWEST_KEY, LIVED_KEY]);
    this.#livedAtZeroMs = (lived.value ?? 0) - elapsed();
    const { nowMs } = clock;
    if (newest.value !== null && check) {
      if (newest.value - nowMs > FAR_MS) throw new ClockBehindError(nowMs, newest.value);
      clock.wasAt(newest.value);
    }
    const note = noteOn(clock, nowMs, newest.value, check);
    await this.#write();
    return note;
  }

  /** Whole ms for which relays have run on this store: never more than has really passed. */
  get livedMs(): number {
    return Math.floor(this.#livedAtZeroMs + this.store.elapsed());
  }

  /**
   * Writes both each minute by either clock, at first after ten seconds: a process whose machine slept
   * learns at once what the store has lived with others meanwhile, before anything is taken again. Calls
   * meanwhile share what is under way.
   */
  async refresh(): Promise<void> {
    if (this.#passedMs() < this.#writeAfterMs) return;
    await (this.#refreshing ??= this.#write().finally(() => this.#refreshing = null));
    this.#writeAfterMs = WRITE_EVERY_MS;
  }

  /** Writes both, so that no lived time is lost. */
  async close(): Promise<void> {
    await this.#refreshing?.catch(() => {});
    await this.#write();
  }

  async #write(): Promise<void> {
    const { clock, elapsed } = this.store;
    const livedAtZeroMs = await this.store.transact(async (transaction) => {
      // Each process counts a time that has really passed: the longest count is the best.
      const { value } = await transaction.get<number>(LIVED_KEY);
      const elapsedMs = elapsed();
      const livedMs = Math.max(value ?? 0, Math.floor(this.#livedAtZeroMs + elapsedMs));
      transaction.set(LIVED_KEY, livedMs);
      if (clock.isSure) transaction.set(NEWEST_KEY, newestBy(clock));
      return livedMs - elapsedMs;
    });
    this.#livedAtZeroMs = Math.max(this.#livedAtZeroMs, livedAtZeroMs);
    this.#passedMs = this.store.clock.stopwatch();
  }
}

/** A relay that went on after its clock leapt back is not kept from its next start by that. */
function newestBy(clock: ClockWatch): number {
  const { nowMs, state } = clock;
  return state.state === "behind" ? Math.min(state.untilMs, nowMs + FAR_MS) : nowMs;
}

function noteOn(
  clock: ClockWatch,
  nowMs: number,
  newestMs: number | null,
  check: boolean,
): string | null {
  if (newestMs === null) return null;
  if (!check) {
    if (nowMs >= newestMs) return "RELAY_CLOCK_CHECK is off";
    return `RELAY_CLOCK_CHECK is off: ${utc(nowMs)} is taken for right, the store was in use at ${
      utc(newestMs)
    }; the variable may go now`;
  }
  if (clock.state.state === "behind") {
    return `${utc(nowMs)}, and the store was in use at ${
      utc(newestMs)
    }: what that later time decided waits until the clock passes it; if the clock is right, and was ` +
      "wrong then, a start with RELAY_CLOCK_CHECK=off ends the wait";
  }
  if (nowMs - newestMs <= FAR_MS) return null;
  return `${utc(nowMs)}, and the store was last in use at ${
    utc(newestMs)
  }: if this relay was not ` +
    "stopped for so long, stop it, set the clock right and restore a backup: what has expired by this " +
    "clock is deleted";
}

function utc(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.\d+Z$/, "Z");
}
