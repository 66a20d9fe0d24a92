/**
 * A store with faults, over a real store in memory. It does what a KV server or a shared file may
 * do:
 * - it refuses what KV Connect refuses, and is slow;
 * - it answers {ok:false}, or fails, after a commit succeeded;
 * - it throws "database is locked".
 *
 * Its seed determines what it does.
 */

import { rawOf } from "./read_through.ts";
import {
  changesOf,
  DELETED,
  type JournalRow,
  THROUGH,
} from "../../server/base/storage/journal/journal_row.ts";

export interface FakeKvOptions {
  /** Several fakes over one store stand for several processes. */
  kv: Deno.Kv;
  seed?: number;
  /** Checks that one commit may hold. */
  maxChecks?: number;
  /** Shares of the commits with each fault, 0 to 1. */
  faults?: Partial<Faults>;
  /** Greatest delay of a read or commit in ms; 0 for none. */
  delayMs?: number;
  /**
   * Runs between a commit and the store; run() applies the commit. For tests of one interleaving.
   */
  intercept?: (commit: FakeCommit, run: () => Promise<CommitOutcome>) => Promise<CommitOutcome>;
}

export type CommitOutcome = Deno.KvCommitResult | Deno.KvCommitError;

export interface Faults {
  /** {ok:false} after the commit was applied. */
  deniedSuccess: number;
  /** A network error after the commit was applied. */
  lostAnswer: number;
  /** "database is locked": nothing was applied. */
  locked: number;
  /** The commit is applied twice, as by a client that repeats it after a network error. */
  repeated: number;
}

export const NO_FAULTS: Readonly<Faults> = {
  deniedSuccess: 0,
  lostAnswer: 0,
  locked: 0,
  repeated: 0,
};

/** What a commit writes; what stands in a row of the journal is told as if it were written to its own row. */
export interface FakeCommit {
  checks: readonly Deno.AtomicCheck[];
  writes: readonly {
    key: Deno.KvKey;
    kind: "set" | "delete" | "sum";
    value?: unknown;
    expireIn?: number;
  }[];
}

/** What KV Connect (denokv 0.14) or Deno itself refuses. */
const LIMITS = { checks: 10, keysOfARead: 10, watchedKeys: 10, mutations: 1000 };

export interface FakeKv extends Deno.Kv {
  /** How often each fault was made so far. */
  readonly faultCounts: Record<keyof Faults, number>;
  readonly commits: FakeCommit[];
  /** Shares that a test may change while it runs. */
  readonly faults: Faults;
}

export function createFakeKv(options: FakeKvOptions): FakeKv {
  const { maxChecks = LIMITS.checks, delayMs = 0 } = options;
  const kv = rawOf(options.kv);
  const random = seededRandom(options.seed ?? 1);
  const faults: Faults = { ...NO_FAULTS, ...options.faults };
  const faultCounts = { ...NO_FAULTS };
  const commits: FakeCommit[] = [];

  function pause(): Promise<void> {
    if (delayMs === 0) return Promise.resolve();
    return new Promise((resolve) => setTimeout(resolve, random() * delayMs));
  }

  function plays(fault: keyof Faults): boolean {
    if (faults[fault] === 0 || random() >= faults[fault]) return false;
    faultCounts[fault]++;
    return true;
  }

  async function applyBadly(run: () => Promise<CommitOutcome>): Promise<CommitOutcome> {
    await pause();
    if (plays("locked")) throw new TypeError("database is locked");
    const outcome = await run();
    // The repetition runs on what the first commit has written, and the caller gets its answer.
    const heard = outcome.ok && plays("repeated") ? await run() : outcome;
    await pause();
    if (outcome.ok && plays("deniedSuccess")) return { ok: false };
    if (outcome.ok && plays("lostAnswer")) throw new TypeError("error sending request");
    return heard;
  }

  function atomic(): Deno.AtomicOperation {
    const checks: Deno.AtomicCheck[] = [];
    const writes: FakeCommit["writes"][number][] = [];
    const steps: ((operation: Deno.AtomicOperation) => void)[] = [];
    const fake = {
      check(...given: Deno.AtomicCheck[]) {
        checks.push(...given);
        steps.push((operation) => operation.check(...given));
        return fake;
      },
      set(key: Deno.KvKey, value: unknown, setOptions?: { expireIn?: number }) {
        writes.push({ key, kind: "set", value, expireIn: setOptions?.expireIn });
        if (key[0] === "journal") writes.push(...journalled(value as JournalRow));
        steps.push((operation) => operation.set(key, value, setOptions));
        return fake;
      },
      delete(key: Deno.KvKey) {
        writes.push({ key, kind: "delete" });
        steps.push((operation) => operation.delete(key));
        return fake;
      },
      sum(key: Deno.KvKey, amount: bigint) {
        writes.push({ key, kind: "sum" });
        steps.push((operation) => operation.sum(key, amount));
        return fake;
      },
      async commit(): Promise<CommitOutcome> {
        requireWithin("checks", checks.length, maxChecks);
        requireWithin("mutations", steps.length - checks.length, LIMITS.mutations);
        const commit = { checks, writes };
        commits.push(commit);
        const run = () => {
          const operation = kv.atomic();
          for (const step of steps) step(operation);
          return operation.commit();
        };
        return await applyBadly(options.intercept ? () => options.intercept!(commit, run) : run);
      },
    };
    return fake as unknown as Deno.AtomicOperation;
  }

  async function get(key: Deno.KvKey) {
    await pause();
    return await kv.get(key);
  }

  const fake = {
    get,
    async getMany(keys: readonly Deno.KvKey[]) {
      requireWithin("keys of one read", keys.length, LIMITS.keysOfARead);
      await pause();
      return await kv.getMany(keys as Deno.KvKey[]);
    },
    async *list(selector: Deno.KvListSelector, listOptions?: Deno.KvListOptions) {
      await pause();
      yield* kv.list(selector, listOptions);
    },
    watch(keys: readonly Deno.KvKey[]) {
      requireWithin("watched keys", keys.length, LIMITS.watchedKeys);
      return kv.watch(keys as Deno.KvKey[]);
    },
    set: (key: Deno.KvKey, value: unknown, setOptions?: { expireIn?: number }) =>
      kv.set(key, value, setOptions),
    delete: (key: Deno.KvKey) => kv.delete(key),
    atomic,
    close: () => {}, // the test closes the store
    faultCounts,
    commits,
    faults,
  };
  return fake as unknown as FakeKv;
}

function journalled(row: JournalRow): FakeCommit["writes"][number][] {
  return changesOf(row).filter(([kind]) => kind !== THROUGH).map((change) => {
    const [kind, key, value, expiresAtMs] = change;
    if (kind === DELETED) return { key, kind: "delete" };
    const expireIn = expiresAtMs === undefined ? undefined : expiresAtMs - Date.now();
    return { key, kind: "set", value, expireIn };
  });
}

function requireWithin(what: string, count: number, limit: number): void {
  if (count > limit) throw new TypeError(`too many ${what}: ${count}, allowed are ${limit}`);
}

/** Numbers in 0..1 that follow from a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
