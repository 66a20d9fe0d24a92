/**
 * The deletion index, and the sweep that works it off: bytes first, then the row, and with it what the
 * bytes counted (stored_bytes.ts), so that a process that is killed leaves nothing behind and nothing
 * uncounted. One process at a time, in small steps.
 */
import { CLOCK_SKEW_MS } from "../time/clock_skew.ts";
import type { GroupCommit } from "../storage/commits/group_commit.ts";
import type { Reads } from "../storage/commits/job.ts";
import { LeasedSteps } from "../storage/leases/leased_steps.ts";
import type { Leases } from "../storage/leases/leases.ts";
import { defineRecord } from "../storage/commits/record_key.ts";
import type { Row } from "../storage/rows/rows.ts";
import type { Store } from "../storage/rows/store.ts";
import { HOUR_MS } from "../time/time_units.ts";
import type { BlobBytes, FoundBytes } from "./blob_bytes.ts";
import { type BlobName, nameText } from "./blob_name.ts";
import { blobKey, type BlobRow, deletionKey, deletionOf, type DeletionRow } from "./blob_rows.ts";
import { countOut, countSweep, ofFirstOwners } from "./stored_bytes.ts";

/** As long as a backup may take: its copy of the bytes has whatever its copy of the store names. */
export const DELETION_DELAY_MS = HOUR_MS;

const ROWS_A_STEP = 50;
const ROWS = { prefix: deletionKey.under() };

/**
 * A commit that rests on rows which were read before another such commit is made anew. Processes of former
 * versions tell by the attempt that it has changed.
 */
const SWEEP = defineRecord<{ attempt: string }>(["blob-deletion-sweep"], 0, {
  holds: "written by each commit that counts bytes out",
})();

export interface DeletionOptions {
  store: Store;
  commits: Pick<GroupCommit, "submit">;
  leases: Leases;
  bytes: BlobBytes;
  /** Whether this process may still be about to keep a blob. */
  isRecent: (name: BlobName) => boolean;
  /** Told of bytes that could not be deleted; they are tried again in an hour. */
  onFailure: (failure: unknown) => void;
}

type DueRow = Row<DeletionRow>;

/** A row whose bytes are gone, and how many of them its owner still counts. */
interface EndedRow {
  key: Deno.KvKey;
  name: BlobName;
  countedBytes: number;
}

export class Deletions {
  readonly #steps: LeasedSteps<"far" | "due">;

  constructor(private readonly options: DeletionOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "blob-deletions",
      pending: async () => {
        const [far, due] = await Promise.all([this.#tooFarAhead(1), this.#due(1)]);
        return [...far.map(() => "far" as const), ...due.map(() => "due" as const)];
      },
      step: (what) => what === "far" ? this.#postponeFar() : this.#deleteDue(),
    });
  }

  /** Has bytes deleted in an hour, unless their blob is kept by then. At most 100 at one time. */
  async schedule(found: readonly FoundBytes[]): Promise<void> {
    if (found.length === 0) return;
    const dueMs = this.options.store.now() + DELETION_DELAY_MS;
    await this.options.store.transact((transaction) => {
      for (const { name, sizeBytes } of found) {
        transaction.set(
          deletionKey(dueMs, ...name),
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

  #due(limit: number): Promise<DueRow[]> {
    const { store } = this.options;
    return store.list({ ...ROWS, end: deletionKey.under(store.now() + 1) }, { limit });
  }

  /** Written by a clock that was ahead: nobody should wait for it to be right. */
  #tooFarAhead(limit: number): Promise<DueRow[]> {
    const { store } = this.options;
    const start = deletionKey.under(store.now() + DELETION_DELAY_MS + CLOCK_SKEW_MS + 1);
    return store.list({ ...ROWS, start }, { limit });
  }

  async #postponeFar(): Promise<boolean> {
    const far = await this.#tooFarAhead(ROWS_A_STEP);
    if (far.length > 0) await this.#postpone(far);
    return far.length === ROWS_A_STEP;
  }

  /** Takes rows away whose bytes are gone, and counts these out, in one commit. @returns whether more may be due */
  async #deleteDue(): Promise<boolean> {
    return await this.options.commits.submit({
      prepare: async (reads: Reads) => {
        await reads.get(SWEEP); // before any row is read
        const due = await this.#due(ROWS_A_STEP);
        const rows = ofFirstOwners(due, ownerOf);
        await this.#forbid(rows);
        const isMore = due.length === ROWS_A_STEP || rows.length < due.length;
        return { ended: await this.#deleteBytesOf(rows), isMore };
      },
      plan(transaction, { ended, isMore }) {
        if (ended.length === 0) return isMore;
        transaction.putRecord(SWEEP, { attempt: transaction.attempt });
        const bytes = new Map<string, number>();
        for (const { key, name, countedBytes } of ended) {
          transaction.delete(key);
          if (countedBytes === 0) continue;
          transaction.delete(blobKey(...name));
          bytes.set(name[0]!, (bytes.get(name[0]!) ?? 0) + countedBytes);
        }
        for (const [owner, sum] of bytes) countOut(transaction, owner, sum);
        return isMore;
      },
    });
  }

  /**
   * Lets no commit of another process that is on its way keep what was found without a record: whether
   * one has, is read afterwards.
   */
  async #forbid(rows: readonly DueRow[]): Promise<void> {
    const { store, isRecent } = this.options;
    if (store.exclusive) return; // this process knows by itself what it may be about to keep
    const owners = new Set(
      rows.filter(({ key, value }) => value.orphan && !isRecent(deletionOf(key).name)).map(ownerOf),
    );
    if (owners.size === 0) return;
    await this.options.commits.submit((transaction) => {
      for (const owner of owners) countSweep(transaction, owner);
    });
  }

  async #postpone(rows: readonly DueRow[]): Promise<void> {
    const { store } = this.options;
    const dueMs = store.now() + DELETION_DELAY_MS;
    await store.transact((transaction) => {
      for (const { key, value } of rows) {
        transaction.delete(key);
        transaction.set(deletionKey(dueMs, ...deletionOf(key).name), value);
      }
    });
  }

  /** @returns the rows that have done their part; the others are tried again in an hour */
  async #deleteBytesOf(rows: readonly DueRow[]): Promise<EndedRow[]> {
    const failed: DueRow[] = [];
    const ended: EndedRow[] = [];
    const counted = new Set<string>();
    for (const row of rows) {
      const done = await this.#deleteBytes(row);
      if (done === null) {
        failed.push(row);
        continue;
      }
      const text = nameText(done.name);
      ended.push(counted.has(text) ? { ...done, countedBytes: 0 } : done); // dropped twice
      counted.add(text);
    }
    if (failed.length > 0) await this.#postpone(failed);
    return ended;
  }

  /** @returns null where the row has not done its part, and is tried again */
  async #deleteBytes({ key, value }: DueRow): Promise<EndedRow | null> {
    const { store, bytes, isRecent, onFailure } = this.options;
    const { name } = deletionOf(key);
    if (value.orphan && isRecent(name)) return null;
    try {
      const { value: blob } = await store.get<BlobRow>(blobKey(...name));
      const isDropped = value.dropped === true;
      // Bytes that looked like nobody's an hour ago, while the clock was wrong, may be kept by now.
      if (isDropped || blob === null) await bytes.remove({ name, sizeBytes: value.sizeBytes });
      return { key, name, countedBytes: isDropped ? blob?.sizeBytes ?? 0 : 0 };
    } catch (failure) {
      onFailure(failure);
      return null;
    }
  }
}

const ownerOf = ({ key }: DueRow): string => deletionOf(key).name[0]!;
