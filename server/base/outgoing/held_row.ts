/**
 * A row of the outgoing queue under a lease. Every change is a job of the group commit. It is
 * planned only while the row still carries the lease. While the clock cannot be relied on no row is leased,
 * and what is held is renewed, marked and settled all the same: it has left already, or is about to.
 */
import { RelayError } from "../errors.ts";
import type { GroupCommit, Reads, Transaction } from "../storage/commits/group_commit.ts";
import type { LeaseTiming } from "../storage/leases/lease.ts";
import { randomId } from "../storage/rows/random_id.ts";
import { type RecordCache, recordName } from "../storage/commits/record_cache.ts";
import type { Store } from "../storage/rows/store.ts";
import {
  type ExtraWrites,
  LeaseLost,
  type OutgoingHandler,
  type PendingOutcome,
} from "./outgoing_handler.ts";
import {
  endKey,
  INDEX_ROW,
  indexKeyOf,
  isFoundBy,
  outgoingKey,
  type OutgoingRow,
} from "./outgoing_row.ts";

/** What a held row needs of the relay. */
export interface HeldRowServices {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  /** At most 60 s long. */
  timing: LeaseTiming;
  /**
   * Aborts when the relay closes. A change that the store does not take then is left to the next
   * start.
   */
  closed: AbortSignal;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** The row after a change, null to take it off. */
type NextRow = (row: OutgoingRow, transaction: Transaction) => OutgoingRow | null;

/** What is told to OutgoingHandler.extraWrites() of an outcome. */
export type StoredOutcome = Omit<PendingOutcome, "id" | "payload">;

/** A failure of OutgoingHandler.extraWrites(). */
class NotPrepared extends Error {}

interface ChangeOptions {
  /** Given to the handler for its extra writes; absent where the change is no outcome. */
  outcome?: StoredOutcome | undefined;
  /** Tries again while the store is too busy, since the outcome of an attempt must be stored. */
  persistent?: boolean;
}

export class HeldRow {
  #row: OutgoingRow;
  /** Changes are made one after the other, since each builds on the one before. */
  #last: Promise<unknown> = Promise.resolve();
  #released = false;

  private constructor(
    readonly id: string,
    private readonly services: HeldRowServices,
    private readonly handler: OutgoingHandler,
    row: OutgoingRow,
  ) {
    this.#row = row;
  }

  /**
   * Leases a row that is due.
   * @param indexKey the key that led to it in its lane; deleted where it leads to no row any more
   * @returns "early" for a row that is not due yet, "gone" where it is taken by another process or gone
   */
  static async lease(
    indexKey: Deno.KvKey,
    services: HeldRowServices,
    handler: OutgoingHandler,
  ): Promise<HeldRow | "early" | "gone"> {
    const { store, commits, timing } = services;
    const id = indexKey.at(-1) as string;
    const key = outgoingKey(id);
    const lease = randomId(store);
    const row = await commits.submit<OutgoingRow | "early" | "gone", OutgoingRow | null>({
      prepare: (reads) => reads.get(key),
      plan(transaction, before) {
        if (before === null || !isFoundBy(id, before, indexKey)) {
          transaction.delete(indexKey);
          return "gone";
        }
        if (before.dueMs > transaction.nowMs) return "early";
        const row: OutgoingRow = {
          ...before,
          lease,
          dueMs: transaction.nowMs + timing.leaseMs + timing.clockSkewMs,
          // The outcome of a row that may have been handed over is unknown: it is not attempted
          // again.
          attempts: before.attempts + (before.phase === "ready" ? 1 : 0),
        };
        stageChange(transaction, id, before, row);
        return row;
      },
    });
    return typeof row === "string" ? row : new HeldRow(id, services, handler, row);
  }

  get row(): OutgoingRow {
    return this.#row;
  }

  /** Whether the data marker is committed: if the attempt ends then, it is not repeated. */
  mayBeHandedOver(): boolean {
    return this.#row.phase === "data";
  }

  /** Makes the lease last its whole length again. @throws LeaseLost */
  renew(): Promise<void> {
    const { leaseMs, clockSkewMs } = this.services.timing;
    return this.#change((row, transaction) => ({
      ...row,
      dueMs: transaction.nowMs + leaseMs + clockSkewMs,
    }));
  }

  /** Records that the content may be handed over from now on. @throws LeaseLost */
  markData(): Promise<void> {
    return this.#change((row) => ({ ...row, phase: "data" }));
  }

  /** Gives the row back with another due time. @throws LeaseLost */
  release(
    changes: Partial<OutgoingRow> & { dueMs: number; dueSetAtMs: number },
    outcome?: StoredOutcome,
  ): Promise<void> {
    return this.#change(
      (row) => ({ ...row, ...changes, phase: "ready", lease: null }),
      { persistent: true, outcome },
    );
  }

  /**
   * Takes the row off the outgoing queue, with other changes in the same commit. @throws LeaseLost
   */
  remove(also: (transaction: Transaction) => void, outcome: StoredOutcome): Promise<void> {
    return this.#change((_row, transaction) => {
      also(transaction);
      return null;
    }, { persistent: true, outcome });
  }

  #change(next: NextRow, how: ChangeOptions = {}): Promise<void> {
    const change = this.#last.then(() => this.#commit(next, how));
    this.#last = change.catch(() => {});
    return change;
  }

  async #commit(next: NextRow, { persistent, outcome }: ChangeOptions): Promise<void> {
    const { closed, timing } = this.services;
    const submit = () => this.#submit(next, outcome);
    const isLocked = outcome !== undefined && this.handler.withLock !== undefined;
    const untilMs = performance.now() + timing.leaseMs / 2;
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if (this.#released) throw new LeaseLost();
      try {
        return await (isLocked ? this.handler.withLock!(this.#row.payload, submit) : submit());
      } catch (error) {
        const isOver = closed.aborted || performance.now() > untilMs;
        const isBusy = error instanceof NotPrepared ||
          error instanceof RelayError && error.code === "unavailable";
        if (!persistent || !isBusy || isOver) throw error;
        await pause(pauseMs, closed);
      }
    }
  }

  async #submit(next: NextRow, outcome: StoredOutcome | undefined): Promise<void> {
    const { id } = this;
    const { records, commits } = this.services;
    const key = outgoingKey(id);
    const { lease } = this.#row;
    const row = await commits.submit<OutgoingRow | null, ExtraWrites | null>({
      whateverTheClock: true,
      prepare: (reads) => this.#prepare(reads, outcome),
      plan(transaction, extraWrites) {
        const before = transaction.record(key);
        if (before === null || before.lease !== lease) throw new LeaseLost();
        const row = next(before, transaction);
        stageChange(transaction, id, before, row);
        extraWrites?.(transaction);
        return row;
      },
    });
    if (row === null || row.lease === null) {
      this.#released = true;
      records.evict(recordName(key)); // needed again when it is due, or never
    }
    if (row !== null) this.#row = row;
  }

  /** @throws NotPrepared for whatever it fails by: the outcome must be stored all the same */
  async #prepare(reads: Reads, outcome: StoredOutcome | undefined): Promise<ExtraWrites | null> {
    const { id, handler } = this;
    if (outcome === undefined) return null;
    const { payload } = this.#row;
    try {
      return await handler.extraWrites?.({ id, payload, ...outcome }, reads) ?? null;
    } catch (error) {
      throw new NotPrepared("what changes beside a row was not prepared", { cause: error });
    }
  }
}

/** Writes a row after a change, or deletes it for null, and moves its index row. */
export function stageChange(
  transaction: Pick<Transaction, "putRecord" | "set" | "delete">,
  id: string,
  before: OutgoingRow,
  row: OutgoingRow | null,
): void {
  transaction.putRecord(outgoingKey(id), row);
  if (row?.endsAtMs !== before.endsAtMs) {
    if (before.endsAtMs !== undefined) transaction.delete(endKey(before.endsAtMs, id));
    if (row?.endsAtMs !== undefined) transaction.set(endKey(row.endsAtMs, id), INDEX_ROW);
  }
  if (row !== null && row.dueMs === before.dueMs && row.lease === before.lease) return;
  transaction.delete(indexKeyOf(id, before));
  if (row !== null) transaction.set(indexKeyOf(id, row), INDEX_ROW);
}

/** Resolves after a while, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    signal.addEventListener("abort", end, { once: true });
  });
}
