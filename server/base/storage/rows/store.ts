/** The store and how much it can take in one commit. */
import type { Clock } from "../../time/clock.ts";
import type { Backend } from "./backend.ts";
import type { CallDeadlineOptions } from "./call_deadline.ts";
import type { ClockWatch } from "./clock_watch.ts";
import { createRows, type Rows } from "./rows.ts";
import { RepeatFloor } from "./repeat_floor.ts";

export interface Store extends Rows, Pick<Backend, "commit" | "watch"> {
  /**
   * True when this process alone writes the store (the embedded file, its lock held): cached
   * records are then always right. False when others write too: a cached record may be outdated,
   * and every commit checks it.
   */
  readonly exclusive: boolean;
  readonly capacity: StoreCapacity;
  /** The unix ms that everything is decided by: wall time, except during an unsettled leap forward. */
  readonly now: Clock;
  /** Monotonic ms since some time of this process. */
  readonly elapsed: Clock;
  /** Tells when the wall clock cannot be relied on. */
  readonly clock: ClockWatch;
  /**
   * Ms for which relays have run on this store, by their monotonic clocks: across restarts, never more
   * than has really passed. Whatever tells a repetition is old only when it is old by this too.
   */
  readonly lived: Clock;
  /** Up to when rows that tell a repetition may be gone. */
  readonly floor: RepeatFloor;
  readonly random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
}

/** The store over a backend. @param given what the store is, the ticker of its deadlines, and callbacks */
export function createStore(
  given: Omit<Store, keyof Rows | "commit" | "watch" | "floor"> & CallDeadlineOptions & {
    backend: Backend;
  },
): Store {
  const { backend, startTicker, onSilence, onFailure, ...store } = given;
  const { random, exclusive, elapsed } = store;
  const calls = { startTicker, onSilence, onFailure, elapsed };
  const rows = createRows({ backend, random, isUnclear: !exclusive, ...calls });
  const watch = (keys: readonly Deno.KvKey[]) => backend.watch(keys);
  return { ...store, ...rows, watch, floor: new RepeatFloor(rows) };
}

/** Bounds of one atomic operation, with a margin below what the store refuses. */
export interface StoreCapacity {
  /** Checks in one commit: 99 on an embedded file, 10 over KV Connect. */
  checks: number;
  /** Mutations in one commit (Deno KV refuses more than 1,000). */
  mutations: number;
  /** Bytes of all keys and values, and of what the journal adds (Deno KV refuses more than 819,200). */
  bytes: number;
  /** Bytes of all keys alone (Deno KV refuses more than 81,920). */
  keyBytes: number;
  /** Concurrent commits of one process. */
  groupsInFlight: number;
  /** Jobs in one commit, where fewer are wanted than fit: 1 switches grouping off. */
  jobs?: number;
}

/**
 * An embedded file has one writing thread: a second group waits in its queue, a third gains
 * nothing.
 */
export const EMBEDDED_CAPACITY: StoreCapacity = {
  checks: 99, // Deno KV takes 100, one of which is the journal's
  mutations: 900,
  bytes: 810_000, // up to 26 rows of the journal come on top, with about 100 bytes each
  keyBytes: 75_000,
  groupsInFlight: 2,
};

/** Over KV Connect a group holds few sends (10 checks), so many groups go at the same time. */
export const KV_CONNECT_CAPACITY: StoreCapacity = {
  checks: 10,
  mutations: 900,
  bytes: 780_000,
  keyBytes: 75_000,
  groupsInFlight: 64,
};

/**
 * How much longer than its logical life a row is kept. Storage may delete a row only when no
 * decision can rest on it any more. The clock decides; the storage's own expiry only cleans up.
 * That expiry is up to a minute late and does not follow a clock that moves.
 */
export const EXPIRY_MARGIN_MS = 2 * 3_600_000;
