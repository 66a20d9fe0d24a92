/** The store at hand and what it can take in one commit. */
import type { Clock } from "../deps.ts";

export interface Store {
  readonly kv: Deno.Kv;
  /**
   * True where this process alone writes the store (the embedded file, its lock held): cached
   * records are then the truth. False where others write too: a cache is only a guess that every
   * commit checks.
   */
  readonly exclusive: boolean;
  readonly capacity: StoreCapacity;
  readonly now: Clock;
  readonly random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
}

/** Bounds of one atomic operation, with a margin below what the store refuses. */
export interface StoreCapacity {
  /** Checks in one commit: 100 on an embedded file, 10 over KV Connect. */
  checks: number;
  /** Mutations in one commit (Deno KV refuses more than 1,000). */
  mutations: number;
  /** Bytes of all keys and values (Deno KV refuses more than 819,200). */
  bytes: number;
  /** Bytes of all keys alone (Deno KV refuses more than 81,920). */
  keyBytes: number;
  /** Commits of one process that may be under way at one time. */
  groupsInFlight: number;
  /** Jobs in one commit, where fewer are wanted than fit: 1 is the path without grouping. */
  jobs?: number;
}

/** An embedded file has one writing thread: a second group waits in its queue, a third gains nothing. */
export const EMBEDDED_CAPACITY: StoreCapacity = {
  checks: 100,
  mutations: 900,
  bytes: 780_000,
  keyBytes: 75_000,
  groupsInFlight: 2,
};

/** Over KV Connect a group holds few sends (10 checks), so that many go at one time. */
export const KV_CONNECT_CAPACITY: StoreCapacity = {
  checks: 10,
  mutations: 900,
  bytes: 780_000,
  keyBytes: 75_000,
  groupsInFlight: 64,
};

/**
 * Storage may delete a row only when no decision can rest on it any more: the clock decides, the
 * storage's own expiry (up to a minute late, and blind to a clock that moves) only cleans up.
 */
export const EXPIRY_MARGIN_MS = 2 * 3_600_000;
