/**
 * Keeps the rows of the leaderboard few (tally_rows.ts): folds deltas and writes checkpoints. The
 * figures do not depend on when this happens or which process does it. Every step is one checked
 * commit.
 */
import type { AgentCore } from "../agents/agent_core.ts";
import { randomId } from "../../base/storage/rows/random_id.ts";
import { firstCountedMinute, WINDOW_MINUTES } from "./counted.ts";
import type { StandingsNow } from "./standings.ts";
import {
  type Checkpoint,
  checkpointKey,
  type CheckpointRow,
  type Count,
  type CountsRow,
  decodeCounts,
  deltaKey,
  encodeCounts,
  encodePart,
  hourOf,
  inRows,
  logKey,
  mergeCounts,
  partKey,
  TALLY_KEPT_MS,
  TALLY_STATE,
  type TallyState,
} from "./tally_rows.ts";

/** Bounds of one fold, so that it fits a commit whatever the deltas hold. */
const MAX_DELTAS = 300;
const MAX_COUNTS = 6_000;
/** When a checkpoint is due: after some folds, but not every few seconds, and at least every hour. */
const CHECKPOINT = { folds: 60, minutes: 5, manyFolds: 1_000, manyMinutes: 60 };
const STANDINGS_A_ROW = 1_000;
const ROWS_A_WRITE = 8;
const DELETIONS_A_WRITE = 500;
const LEASE_MS = 30_000;

export interface TallyOptions extends Pick<AgentCore, "store" | "commits" | "leases"> {
  /** The standings as the store has them, for a checkpoint. */
  standings: () => Promise<StandingsNow>;
  /** Seven days unless given. */
  windowMinutes?: number;
}

export class Tally {
  #working: Promise<void> | null = null;

  constructor(private readonly options: TallyOptions) {}

  /** Folds everything that is waiting. One caller of one process works at a time. */
  tidy(): Promise<void> {
    return this.#working ??= this.#tidy().finally(() => this.#working = null);
  }

  async #tidy(): Promise<void> {
    const lease = await this.options.leases.take("tally", LEASE_MS);
    if (lease === null) return;
    try {
      while (await this.#fold()) if (!(await lease.keep())) return;
      await this.#checkpoint();
    } finally {
      await lease.release();
    }
  }

  /**
   * Makes one fold. What arrives meanwhile waits for the next time: with folds and no pause, the
   * standings could never be read.
   * @returns whether deltas were left because of its bounds
   */
  async #fold(): Promise<boolean> {
    const { store, commits, windowMinutes } = this.options;
    // A relay at rest commits nothing.
    if ((await store.list({ prefix: deltaKey.under() }, { limit: 1 })).length === 0) return false;
    return await commits.submit({
      async prepare(reads) {
        const state = await reads.get(TALLY_STATE);
        const deltas = await store.list<CountsRow>({ prefix: deltaKey.under() }, {
          limit: MAX_DELTAS,
        });
        const keys: Deno.KvKey[] = [];
        const found: Count[] = [];
        for (const { key, value } of deltas) {
          keys.push(key);
          found.push(...decodeCounts(value));
          if (found.length >= MAX_COUNTS) break;
        }
        // What has left the window was already subtracted with its minute.
        const firstMinute = firstCountedMinute(store.now(), windowMinutes);
        const counts = mergeCounts(found).filter(({ minute }) => minute >= firstMinute);
        const isFull = keys.length >= MAX_DELTAS || found.length >= MAX_COUNTS;
        return { state, keys, counts, isFull };
      },
      plan(transaction, { state, keys, counts, isFull }) {
        if (keys.length === 0) return false;
        const seq = (state?.seq ?? 0) + 1;
        transaction.putRecord(TALLY_STATE, { v: 1, seq, checkpoint: state?.checkpoint ?? null });
        for (const [n, row] of inRows(counts).entries()) {
          transaction.set(logKey(seq, n), encodeCounts(row), TALLY_KEPT_MS);
        }
        for (const [hour, some] of Map.groupBy(counts, ({ minute }) => hourOf(minute))) {
          for (const [n, row] of inRows(some).entries()) {
            transaction.set(partKey(hour, seq, n), encodePart(row), TALLY_KEPT_MS);
          }
        }
        for (const key of keys) transaction.delete(key);
        return isFull;
      },
    });
  }

  async #checkpoint(): Promise<void> {
    const { store, commits, standings } = this.options;
    const state = (await store.get<TallyState>(TALLY_STATE)).value;
    if (state === null || !this.#isDue(state)) return;
    const { folded: { seq, firstMinute, counts, hours } } = await standings();
    // As of now: a count that changes meanwhile is another object. Rows are made as they are written.
    const rows = inRows([...counts.values()], STANDINGS_A_ROW);
    const byHour = [...hours].flat();
    const name = randomId(store);
    for (let from = 0; from < rows.length; from += ROWS_A_WRITE) {
      await store.transact((transaction) => {
        for (const [i, standings] of rows.slice(from, from + ROWS_A_WRITE).entries()) {
          const row: CheckpointRow = {
            v: 1,
            counts: standings.flatMap(({ senderId, handle, count }) => [senderId, handle, count]),
            ...(from + i === 0 ? { hours: byHour } : {}),
          };
          transaction.set(checkpointKey(name, from + i), row, { expireInMs: TALLY_KEPT_MS });
        }
      });
    }
    const checkpoint: Checkpoint = { name, seq, firstMinute, rows: rows.length };
    const former = await commits.submit((transaction) => {
      const current = transaction.record(TALLY_STATE)!;
      // Another process may have written one meanwhile.
      if ((current.checkpoint?.seq ?? 0) > seq) return undefined;
      transaction.putRecord(TALLY_STATE, { ...current, checkpoint });
      return current.checkpoint;
    });
    if (former === undefined) await this.#deleteAll({ prefix: checkpointKey.under(name) });
    else if (former !== null) {
      await this.#deleteAll({ prefix: checkpointKey.under(former.name) });
      await this.#deleteAll({ start: logKey.under(), end: logKey.under(former.seq + 1) });
    }
  }

  #isDue({ seq, checkpoint }: TallyState): boolean {
    if (checkpoint === null) return true;
    const { store, windowMinutes } = this.options;
    const left = firstCountedMinute(store.now(), windowMinutes) - checkpoint.firstMinute;
    if (seq === checkpoint.seq && left > WINDOW_MINUTES) return false; // nothing of it is in the window
    const folds = seq - checkpoint.seq;
    return folds >= CHECKPOINT.folds && left >= CHECKPOINT.minutes ||
      folds >= CHECKPOINT.manyFolds || left >= CHECKPOINT.manyMinutes;
  }

  /** Deletes rows that are not needed any more; rows that a stop leaves behind expire. */
  async #deleteAll(selector: Deno.KvListSelector): Promise<void> {
    const { store } = this.options;
    for await (const rows of store.batches(selector, { batchSize: DELETIONS_A_WRITE })) {
      await store.transact((transaction) => {
        for (const { key } of rows) transaction.delete(key);
      });
    }
  }
}
