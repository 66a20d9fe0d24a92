/**
 * Deletes the bytes that nobody needs, in one process at a time and in small steps, each of which is a
 * commit.
 *
 * First what the deletion index has due: the bytes, then the row, and with it what the bytes counted
 * (stored_bytes.ts), so that a process that is killed leaves nothing behind and nothing uncounted.
 *
 * Then, once an hour, a pass over bytes that no record names: of writes whose process died or whose commit
 * was refused, and of a store that was put back to an older state. They go into that index. Clocks may
 * jump, on this host and others, while a blob is between its write and its commit. So being old by the
 * clock is not enough: this process's own recent writes are never taken, and the row that keeps a blob is
 * looked for twice, an hour apart.
 */
import { logSparsely } from "../log_sparsely.ts";
import type { Core } from "../parts/core.ts";
import type { Reads } from "../storage/commits/job.ts";
import { defineRecord } from "../storage/commits/record_key.ts";
import { LeasedSteps } from "../storage/leases/leased_steps.ts";
import type { Row } from "../storage/rows/rows.ts";
import { CLOCK_SKEW_MS } from "../time/clock_skew.ts";
import { HOUR_MS } from "../time/time_units.ts";
import type { BlobBytes, FoundBytes } from "./blob_bytes.ts";
import { type BlobName, nameText, writtenMs } from "./blob_name.ts";
import {
  blobKey,
  type BlobRow,
  deletedNameOf,
  DELETION_DELAY_MS,
  deletionKey,
  type DeletionRow,
} from "./blob_rows.ts";
import type { RecentWrites } from "./recent_writes.ts";
import { countOut, countSweep, ofFirstOwners } from "./stored_bytes.ts";

/** How long a blob may be without a record. */
const GRACE_MS = HOUR_MS;
const BETWEEN_PASSES_MS = HOUR_MS;
/** Every so many passes looks at all blobs again: a clock may have moved to and fro. */
const PASSES_A_FULL_ONE = 24;
const ROWS_A_STEP = 50;

/**
 * A commit that rests on rows which were read before another such commit is made anew. Processes of former
 * versions tell by the attempt that it has changed.
 */
const SWEEP = defineRecord<{ attempt: string }>(["blob-deletion-sweep"], 0, {
  holds: "written by each commit that counts bytes out",
})();

export interface BlobSweepOptions
  extends Pick<Core, "store" | "commits" | "leases">, Pick<Core["deps"], "log"> {
  bytes: BlobBytes;
  recent: Pick<RecentWrites, "has">;
  /** Whether bytes that no record names are this store's to delete. */
  areOurs: boolean;
}

type DeletionIndexRow = Row<DeletionRow>;

interface Pass {
  beganMs: number;
  found: AsyncGenerator<readonly FoundBytes[]>;
}

export class BlobSweep {
  readonly #steps: LeasedSteps<"step">;
  readonly #deletionFailed: (failure: unknown) => void;
  #pass: Pass | null = null;
  #beganMs = -Infinity;
  /** When the last pass that came to its end had begun. */
  #endedMs = -Infinity;
  #passes = 0;

  constructor(private readonly options: BlobSweepOptions) {
    this.#deletionFailed = logSparsely(options.log, "blob_deletion_failed");
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "blob-deletions",
      pending: async () => this.#pass !== null || await this.#hasRows() ? ["step"] : [],
      step: () => this.#step(),
    });
  }

  /** Works until there is nothing to do, or another process works. */
  async run(): Promise<void> {
    const { store, areOurs } = this.options;
    const nowMs = store.now();
    if (areOurs && this.#pass === null && Math.abs(nowMs - this.#beganMs) >= BETWEEN_PASSES_MS) {
      this.#pass = this.#begin(nowMs);
    }
    await this.#steps.run();
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #hasRows(): Promise<boolean> {
    const [due, far] = await Promise.all([this.#due(1), this.#tooFarAhead(1)]);
    return due.length + far.length > 0;
  }

  #due(limit: number): Promise<DeletionIndexRow[]> {
    const { store } = this.options;
    const end = deletionKey.under(store.now() + 1);
    return store.list({ prefix: deletionKey.under(), end }, { limit });
  }

  /** Written by a clock that was ahead: nobody should wait for it to be right. */
  #tooFarAhead(limit: number): Promise<DeletionIndexRow[]> {
    const { store } = this.options;
    const start = deletionKey.under(store.now() + DELETION_DELAY_MS + CLOCK_SKEW_MS + 1);
    return store.list({ prefix: deletionKey.under(), start }, { limit });
  }

  /** @returns whether there may be more to do */
  async #step(): Promise<boolean> {
    const far = await this.#tooFarAhead(ROWS_A_STEP);
    if (far.length > 0) return await this.#putOff(far);
    // What is due goes before a pass, or it would be found and scheduled once more.
    return await this.#hasRows() ? await this.#deleteDue() : await this.#findSome();
  }

  async #putOff(rows: readonly DeletionIndexRow[]): Promise<true> {
    const { store } = this.options;
    const dueMs = store.now() + DELETION_DELAY_MS;
    await store.transact((transaction) => {
      // The dropped ones last: of two rows of one blob theirs says that it is to be counted out.
      for (const { key, value } of rows.toSorted(droppedLast)) {
        transaction.delete(key);
        transaction.set(deletionKey(dueMs, ...deletedNameOf(key)), value);
      }
    });
    return true;
  }

  /** Takes rows away whose bytes are gone, and counts these out, in one commit. */
  async #deleteDue(): Promise<true> {
    return await this.options.commits.submit({
      prepare: async (reads: Reads) => {
        await reads.get(SWEEP); // before any row is read
        const due = ofFirstOwners(await this.#due(ROWS_A_STEP), ownerOf);
        await this.#forbid(due);
        const gone: Deno.KvKey[] = [];
        const late: DeletionIndexRow[] = [];
        const counted = new Map<string, FoundBytes>(); // by name: it may have been dropped twice
        for (const row of due) {
          const outcome = await this.#deleteBytes(row);
          if (outcome === "late") late.push(row);
          else gone.push(row.key);
          if (typeof outcome === "object") counted.set(nameText(outcome.name), outcome);
        }
        if (late.length > 0) await this.#putOff(late);
        return { gone, counted };
      },
      plan(transaction, { gone, counted }) {
        if (gone.length === 0) return true;
        transaction.putRecord(SWEEP, { attempt: transaction.attempt });
        for (const key of gone) transaction.delete(key);
        const bytes = new Map<string, number>();
        for (const { name, sizeBytes } of counted.values()) {
          transaction.delete(blobKey(...name));
          bytes.set(name[0]!, (bytes.get(name[0]!) ?? 0) + sizeBytes);
        }
        for (const [owner, sum] of bytes) countOut(transaction, owner, sum);
        return true;
      },
    });
  }

  /**
   * Lets no commit of another process that is on its way keep what was found without a record: whether
   * one has, is read afterwards.
   */
  async #forbid(rows: readonly DeletionIndexRow[]): Promise<void> {
    const { store, recent, commits } = this.options;
    if (store.exclusive) return; // this process knows by itself what it may be about to keep
    const owners = new Set(
      rows.filter(({ key, value }) => value.orphan && !recent.has(deletedNameOf(key))).map(ownerOf),
    );
    if (owners.size === 0) return;
    await commits.submit((transaction) => {
      for (const owner of owners) countSweep(transaction, owner);
    });
  }

  /** @returns the blob where its owner still counts it; "late" where the row has not done its part */
  async #deleteBytes({ key, value }: DeletionIndexRow): Promise<FoundBytes | "gone" | "late"> {
    const { store, bytes, recent } = this.options;
    const name = deletedNameOf(key);
    if (value.orphan && recent.has(name)) return "late";
    try {
      const { value: blob } = await store.get<BlobRow>(blobKey(...name));
      const isDropped = value.dropped === true;
      // Bytes that looked like nobody's an hour ago, while the clock was wrong, may be kept by now.
      if (isDropped || blob === null) await bytes.remove({ name, sizeBytes: value.sizeBytes });
      return isDropped && blob !== null ? { name, sizeBytes: blob.sizeBytes } : "gone";
    } catch (failure) {
      this.#deletionFailed(failure);
      return "late";
    }
  }

  #begin(nowMs: number): Pass {
    const { store, bytes, recent } = this.options;
    const isFull = this.#passes++ % PASSES_A_FULL_ONE === 0 || nowMs < this.#endedMs;
    // The last pass has looked at what was settled by then; clocks of others may lag.
    const sinceMs = isFull ? -Infinity : this.#endedMs - 2 * GRACE_MS;
    this.#beganMs = nowMs;
    // A time ahead of the clock is as good as one long ago: it was written by another clock.
    const isClosed = (name: BlobName) =>
      Math.abs(store.now() - writtenMs(name)) > GRACE_MS && !recent.has(name);
    return { beganMs: nowMs, found: bytes.found(sinceMs, isClosed) };
  }

  /** Has some more bytes deleted in an hour, unless their blob is kept by then. @returns whether the pass goes on */
  async #findSome(): Promise<boolean> {
    const pass = this.#pass;
    if (pass === null) return false;
    this.#pass = null; // where it fails, the next hour begins anew
    const { done, value: found } = await pass.found.next();
    if (done) {
      this.#endedMs = pass.beganMs;
      return false;
    }
    const { store } = this.options;
    const rows = await store.getMany(found.map(({ name }) => blobKey(...name)));
    const unknown = found.filter((_, i) => rows[i]!.value === null);
    const dueMs = store.now() + DELETION_DELAY_MS;
    await store.transact((transaction) => {
      for (const { name, sizeBytes } of unknown) {
        const row: DeletionRow = { v: 1, sizeBytes, orphan: true };
        transaction.set(deletionKey(dueMs, ...name), row);
      }
    });
    this.#pass = pass;
    return true;
  }
}

const ownerOf = ({ key }: DeletionIndexRow): string => deletedNameOf(key)[0]!;

const droppedLast = (a: DeletionIndexRow, b: DeletionIndexRow): number =>
  Number(a.value.dropped === true) - Number(b.value.dropped === true);
