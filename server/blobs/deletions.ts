/**
 * The deletion index, and the sweep that works it off: bytes first, then the row, so that a process
 * that is killed leaves nothing behind. One process at a time, in small steps.
 */
import { CLOCK_SKEW_MS } from "../clock_skew.ts";
import { LeasedSteps } from "../storage/leased_steps.ts";
import type { Leases } from "../storage/leases.ts";
import { listRows } from "../storage/list_rows.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import type { Store } from "../storage/store.ts";
import { HOUR_MS } from "../time_units.ts";
import type { BlobBytes, FoundBytes } from "./blob_bytes.ts";
import type { BlobName } from "./blob_name.ts";
import { blobKey, deletionKey, deletionOf, type DeletionRow } from "./blob_rows.ts";
import { writeRows } from "./write_rows.ts";

/** As long as a backup may take: its copy of the bytes has whatever its copy of the store names. */
export const DELETION_DELAY_MS = HOUR_MS;

const ROWS_A_STEP = 50;
const ROWS = { prefix: ["blob-deletion"] };

export interface DeletionOptions {
  store: Store;
  leases: Leases;
  bytes: BlobBytes;
  /** Whether this process may still be about to keep a blob. */
  isRecent: (name: BlobName) => boolean;
  /** Told of bytes that could not be deleted; they are tried again in an hour. */
  onFailure: (failure: unknown) => void;
}

type Row = Deno.KvEntry<DeletionRow>;

export class Deletions {
  readonly #steps: LeasedSteps<"due">;

  constructor(private readonly options: DeletionOptions) {
    const { store, leases } = options;
    this.#steps = new LeasedSteps({
      store,
      leases,
      name: "blob-deletions",
      pending: async () => {
        const rows = await Promise.all([this.#due(1), this.#tooFarAhead(1)]);
        return rows.flat().length > 0 ? ["due"] as const satisfies "due"[] : [];
      },
      step: () => this.#step(),
    });
  }

  /** Has bytes deleted in an hour, unless their blob is kept by then. At most 100 at one time. */
  async schedule(found: readonly FoundBytes[]): Promise<void> {
    if (found.length === 0) return;
    const dueMs = this.options.store.now() + DELETION_DELAY_MS;
    await writeRows(this.options.store.kv, (operation) => {
      for (const { name, sizeBytes } of found) {
        operation.set(
          deletionKey(dueMs, name),
          { v: 1, sizeBytes, orphan: true } satisfies DeletionRow,
        );
      }
    });
  }

  /** Works until nothing is due, or another process works. */
  run(): Promise<void> {
    return this.#steps.run();
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  #due(limit: number): Promise<Row[]> {
    const { kv, now } = this.options.store;
    return listRows(kv, { ...ROWS, end: ["blob-deletion", now() + 1] }, { limit });
  }

  /** Written by a clock that was ahead: nobody should wait for it to be right. */
  #tooFarAhead(limit: number): Promise<Row[]> {
    const { kv, now } = this.options.store;
    const start = ["blob-deletion", now() + DELETION_DELAY_MS + CLOCK_SKEW_MS + 1];
    return listRows(kv, { ...ROWS, start }, { limit });
  }

  async #step(): Promise<boolean> {
    const far = await this.#tooFarAhead(ROWS_A_STEP);
    if (far.length > 0) await this.#postpone(far);
    const due = await this.#due(ROWS_A_STEP);
    const failed: Row[] = [];
    const ended: Row[] = [];
    for (const row of due) {
      (await this.#deleteBytes(row) ? ended : failed).push(row);
    }
    const { kv } = this.options.store;
    if (ended.length > 0) {
      await writeRows(kv, (operation) => {
        for (const { key } of ended) operation.delete(key);
      });
    }
    if (failed.length > 0) await this.#postpone(failed);
    return Math.max(far.length, due.length) === ROWS_A_STEP;
  }

  async #postpone(rows: readonly Row[]): Promise<void> {
    const { kv, now } = this.options.store;
    const dueMs = now() + DELETION_DELAY_MS;
    await writeRows(kv, (operation) => {
      for (const { key, value } of rows) {
        operation.delete(key).set(deletionKey(dueMs, deletionOf(key).name), value);
      }
    });
  }

  /** @returns whether the row has done its part; else it is tried again */
  async #deleteBytes({ key, value }: Row): Promise<boolean> {
    const { store: { kv }, bytes, isRecent, onFailure } = this.options;
    const { name } = deletionOf(key);
    if (value.orphan && isRecent(name)) return false;
    try {
      // Bytes that looked like nobody's an hour ago, while the clock was wrong.
      const blob = await retryWhileLocked(() => kv.get(blobKey(name)));
      if (blob.value === null) await bytes.remove({ name, sizeBytes: value.sizeBytes });
      return true;
    } catch (failure) {
      onFailure(failure);
      return false;
    }
  }
}
