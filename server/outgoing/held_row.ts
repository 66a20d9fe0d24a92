/**
 * A row of the outgoing queue under a lease. Every change is a job of the group commit. It is
 * planned only while the row still carries the lease. While the clock cannot be relied on no row is leased,
 * and what is held is renewed, marked and settled all the same: it has left already, or is about to.
 */
import { RelayError } from "../errors.ts";
import type { GroupCommit, Turn } from "../storage/group_commit.ts";
import type { LeaseTiming } from "../storage/lease.ts";
import { randomId } from "../storage/random_id.ts";
import { type RecordCache, recordName } from "../storage/record_cache.ts";
import type { Store } from "../storage/store.ts";
import { Outdated } from "../storage/job.ts";
import { type Alongside, LeaseLost } from "./outgoing_handler.ts";
import { endKey, INDEX_ROW, indexKeyOf, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

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

/** Bytes that a change of a row takes in memory besides its payload, which counts twice. */
const CHANGE_BYTES = 4_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** The row after a change, null to take it off. */
type NextRow = (row: OutgoingRow, turn: Turn) => OutgoingRow | null;

/** What else changes in a commit; see OutgoingHandler.alongside() and inTurn(). */
export interface Beside {
  prepare(): Promise<Alongside | null>;
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

const NOTHING: Beside = { prepare: () => Promise.resolve(null), inTurn: (work) => work() };

/** A failure of Beside.prepare(). */
class NotPrepared extends Error {}

interface ChangeOptions {
  beside?: Beside | undefined;
  /** Tries again while the store is too busy, since the outcome of an attempt must be stored. */
  persistent?: boolean;
  removes?: boolean;
}

export class HeldRow {
  #row: OutgoingRow;
  /** Changes are made one after the other, since each builds on the one before. */
  #last: Promise<unknown> = Promise.resolve();
  #released = false;

  private constructor(
    readonly id: string,
    private readonly services: HeldRowServices,
    private readonly payloadBytes: number,
    row: OutgoingRow,
  ) {
    this.#row = row;
  }

  /**
   * Leases a row that is due.
   * @param dueMs its due time in the index of its lane
   * @returns null when the row is gone, due at another time or taken by another process
   */
  static async lease(
    id: string,
    dueMs: number,
    services: HeldRowServices,
    payloadBytes: number,
  ): Promise<HeldRow | null> {
    const { store, records, commits, timing } = services;
    const key = outgoingKey(id);
    const lease = randomId(store);
    if (!store.exclusive) records.refresh(key);
    const held = await commits.submit<{ row: OutgoingRow } | null>({
      records: [key],
      sizeBytes: sizeOfChange(payloadBytes),
      plan(turn) {
        const before = turn.record<OutgoingRow>(key);
        if (before === null || before.lease !== null) return null;
        if (before.dueMs !== dueMs || dueMs > turn.nowMs) return null;
        const row: OutgoingRow = {
          ...before,
          lease,
          dueMs: turn.nowMs + timing.leaseMs + timing.clockSkewMs,
          // The outcome of a row that may have been handed over is unknown: it is not attempted
          // again.
          attempts: before.attempts + (before.phase === "ready" ? 1 : 0),
          attempt: turn.attempt,
        };
        stageChange(turn, id, before, row);
        return { row };
      },
    });
    return held === null ? null : new HeldRow(id, services, payloadBytes, held.row);
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
    return this.#change((row, turn) => ({ ...row, dueMs: turn.nowMs + leaseMs + clockSkewMs }));
  }

  /** Records that the content may be handed over from now on. @throws LeaseLost */
  markData(): Promise<void> {
    return this.#change((row) => ({ ...row, phase: "data" }));
  }

  /** Gives the row back with another due time. @throws LeaseLost */
  release(
    changes: Partial<OutgoingRow> & { dueMs: number; dueSetAtMs: number },
    beside?: Beside,
  ): Promise<void> {
    return this.#change(
      (row) => ({ ...row, ...changes, phase: "ready", lease: null }),
      { persistent: true, beside },
    );
  }

  /**
   * Takes the row off the outgoing queue, with other changes in the same commit. @throws LeaseLost
   */
  remove(also: (turn: Turn) => void, beside?: Beside): Promise<void> {
    return this.#change((_row, turn) => {
      also(turn);
      return null;
    }, { persistent: true, removes: true, beside });
  }

  #change(next: NextRow, how: ChangeOptions = {}): Promise<void> {
    const change = this.#last.then(() => this.#commit(next, how));
    this.#last = change.catch(() => {});
    return change;
  }

  async #commit(next: NextRow, how: ChangeOptions): Promise<void> {
    const { closed, timing } = this.services;
    const untilMs = performance.now() + timing.leaseMs / 2;
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if (this.#released) throw new LeaseLost();
      const { beside = NOTHING } = how;
      try {
        return await beside.inTurn(async () =>
          await this.#submit(next, how, await prepared(beside))
        );
      } catch (error) {
        const isOver = closed.aborted || performance.now() > untilMs;
        if (error instanceof Outdated && !isOver) continue;
        const isBusy = error instanceof NotPrepared ||
          error instanceof RelayError && error.code === "unavailable";
        if (!how.persistent || !isBusy || isOver) throw error;
        await pause(pauseMs, closed);
      }
    }
  }

  async #submit(
    next: NextRow,
    { removes }: ChangeOptions,
    alongside: Alongside | null,
  ): Promise<void> {
    const { id } = this;
    const { store, records, commits } = this.services;
    const key = outgoingKey(id);
    const { lease } = this.#row;
    const isGone = async () => (await store.get(key)).value === null ? { row: null } : undefined;
    const { row } = await commits.submit<{ row: OutgoingRow | null }>({
      records: [key, ...alongside?.records ?? []],
      sizeBytes: sizeOfChange(this.payloadBytes) + (alongside?.sizeBytes ?? 0),
      whateverTheClock: true,
      // A row that was taken off holds no proof: its absence is the proof.
      ...(removes ? { settle: isGone } : {}),
      plan(turn) {
        const before = turn.record<OutgoingRow>(key);
        if (before === null || before.lease !== lease) throw new LeaseLost();
        const changed = next(before, turn);
        const row = changed === null ? null : { ...changed, attempt: turn.attempt };
        stageChange(turn, id, before, row);
        alongside?.plan(turn);
        return { row };
      },
    });
    if (row === null || row.lease === null) {
      this.#released = true;
      records.evict(recordName(key)); // needed again when it is due, or never
    }
    if (row !== null) this.#row = row;
  }
}

/** @throws NotPrepared for whatever it fails by: the outcome must be stored all the same */
async function prepared(beside: Beside): Promise<Alongside | null> {
  try {
    return await beside.prepare();
  } catch (error) {
    throw new NotPrepared("what changes beside a row was not prepared", { cause: error });
  }
}

/** Writes a row after a change, or deletes it for null, and moves its index row. */
export function stageChange(
  turn: Pick<Turn, "putRecord" | "set" | "delete">,
  id: string,
  before: OutgoingRow,
  row: OutgoingRow | null,
): void {
  turn.putRecord(outgoingKey(id), row);
  if (row?.endsAtMs !== before.endsAtMs) {
    if (before.endsAtMs !== undefined) turn.delete(endKey(before.endsAtMs, id));
    if (row?.endsAtMs !== undefined) turn.set(endKey(row.endsAtMs, id), INDEX_ROW);
  }
  if (row !== null && row.dueMs === before.dueMs && row.lease === before.lease) return;
  turn.delete(indexKeyOf(id, before));
  if (row !== null) turn.set(indexKeyOf(id, row), INDEX_ROW);
}

/** Bytes of memory that a job needs to change a row, for payloads up to this size. */
export function sizeOfChange(payloadBytes: number): number {
  return CHANGE_BYTES + 2 * payloadBytes;
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
