/**
 * The deletion index, and the sweep that works it off: bytes first, then the row, and with it what the
 * bytes counted (stored_bytes.ts), so that a process that is killed leaves nothing behind and nothing
 * uncounted. One process at a time, in small steps.
 */
import { CLOCK_SKEW_MS } from "../clock_skew.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import { Outdated } from "../storage/job.ts";
import { LeasedSteps } from "../storage/leased_steps.ts";
import type { Leases } from "../storage/leases.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import { defineRecord } from "../storage/record_key.ts";
import type { Row } from "../storage/rows.ts";
import type { Store } from "../storage/store.ts";
import { HOUR_MS } from "../time_units.ts";
import type { BlobBytes, FoundBytes } from "./blob_bytes.ts";
import { type BlobName, nameText } from "./blob_name.ts";
import { blobKey, type BlobRow, deletionKey, deletionOf, type DeletionRow } from "./blob_rows.ts";
import { byOwners, countOut, countSweep, storageKey } from "./stored_bytes.ts";

/** As long as a backup may take: its copy of the bytes has whatever its copy of the store names. */
export const DELETION_DELAY_MS = HOUR_MS;

const ROWS_A_STEP = 50;
const ROWS = { prefix: ["blob-deletion"] };

/**
 * ["blob-deletion-sweep"]: written by every commit that counts bytes out. One that rests on rows which
 * were read before another such commit is made anew.
 */
const SWEEP = defineRecord<{ attempt: string }>(["blob-deletion-sweep"], 0)();

export interface DeletionOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
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
  readonly #steps: LeasedSteps<"due">;

  constructor(private readonly options: DeletionOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
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
    await this.options.store.transact((transaction) => {
      for (const { name, sizeBytes } of found) {
        transaction.set(
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

  #due(limit: number): Promise<DueRow[]> {
    const { store } = this.options;
    return store.list({ ...ROWS, end: ["blob-deletion", store.now() + 1] }, { limit });
  }

  /** Written by a clock that was ahead: nobody should wait for it to be right. */
  #tooFarAhead(limit: number): Promise<DueRow[]> {
    const { store } = this.options;
    const start = ["blob-deletion", store.now() + DELETION_DELAY_MS + CLOCK_SKEW_MS + 1];
    return store.list({ ...ROWS, start }, { limit });
  }

  async #step(): Promise<boolean> {
    const far = await this.#tooFarAhead(ROWS_A_STEP);
    if (far.length > 0) await this.#postpone(far);
    const last = await this.#lastSweep(); // before any row is read
    const due = await this.#due(ROWS_A_STEP);
    await this.#forbid(due);
    const failed: DueRow[] = [];
    const ended: EndedRow[] = [];
    const counted = new Set<string>();
    for (const row of due) {
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
    if (ended.length > 0 && !await this.#end(ended, last)) return true;
    return Math.max(far.length, due.length) === ROWS_A_STEP;
  }

  async #lastSweep(): Promise<string | null> {
    const { records } = this.options;
    return (await records.read<{ attempt: string }>(SWEEP))?.attempt ?? null;
  }

  /**
   * Takes the rows away, and counts the bytes out.
   * @param last sweep before the rows were read
   * @returns false where another process has swept meanwhile: what is left is to be read again
   */
  async #end(rows: readonly EndedRow[], last: string | null): Promise<boolean> {
    try {
      for (const some of byOwners(rows, ({ name }) => name[0]!)) {
        last = await this.#endSome(some, last);
      }
      return true;
    } catch (error) {
      if (error instanceof Outdated) return false;
      throw error;
    }
  }

  /** One commit. @returns its attempt @throws Outdated */
  #endSome(rows: readonly EndedRow[], last: string | null): Promise<string> {
    const bytes = new Map<string, number>();
    for (const { name: [owner], countedBytes } of rows) {
      if (countedBytes > 0) bytes.set(owner!, (bytes.get(owner!) ?? 0) + countedBytes);
    }
    return this.options.commits.submit<string>({
      records: [SWEEP, ...[...bytes.keys()].map(storageKey)],
      sizeBytes: 500 * rows.length,
      plan(turn) {
        if ((turn.record(SWEEP)?.attempt ?? null) !== last) throw new Outdated();
        turn.putRecord(SWEEP, { attempt: turn.attempt });
        for (const { key, name, countedBytes } of rows) {
          turn.delete(key);
          if (countedBytes > 0) turn.delete(blobKey(name));
        }
        for (const [owner, sum] of bytes) countOut(turn, owner, sum);
        return turn.attempt;
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
    const names = rows.filter(({ value }) => value.orphan).map(({ key }) => deletionOf(key).name)
      .filter((name) => !isRecent(name));
    for (const some of byOwners(names, ([owner]) => owner!)) {
      const owners = [...new Set(some.map(([owner]) => owner!))];
      await this.options.commits.submit<void>({
        records: owners.map(storageKey),
        sizeBytes: 500,
        plan(turn) {
          for (const owner of owners) countSweep(turn, owner);
        },
      });
    }
  }

  async #postpone(rows: readonly DueRow[]): Promise<void> {
    const { store } = this.options;
    const dueMs = store.now() + DELETION_DELAY_MS;
    await store.transact((transaction) => {
      for (const { key, value } of rows) {
        transaction.delete(key);
        transaction.set(deletionKey(dueMs, deletionOf(key).name), value);
      }
    });
  }

  /** @returns null where the row has not done its part, and is tried again */
  async #deleteBytes({ key, value }: DueRow): Promise<EndedRow | null> {
    const { store, bytes, isRecent, onFailure } = this.options;
    const { name } = deletionOf(key);
    if (value.orphan && isRecent(name)) return null;
    try {
      const { value: blob } = await store.get<BlobRow>(blobKey(name));
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
