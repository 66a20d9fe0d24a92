/**
 * Finds bytes that no record names: of writes whose process died or whose commit was refused, and
 * of a store that was put back to an older state. They are deleted an hour after they are found.
 *
 * Clocks may jump, on this host and others, while a blob is between its write and its commit. So being
 * old by the clock is not enough: this process's own recent writes are never taken, and the row that
 * keeps a blob is looked for twice, an hour apart.
 */
import { LeasedSteps } from "../storage/leases/leased_steps.ts";
import type { Leases } from "../storage/leases/leases.ts";
import type { Store } from "../storage/rows/store.ts";
import { HOUR_MS } from "../time/time_units.ts";
import type { BlobBytes, FoundBytes } from "./blob_bytes.ts";
import { type BlobName, writtenMs } from "./blob_name.ts";
import { blobKey } from "./blob_rows.ts";
import type { Deletions } from "./deletions.ts";

/** How long a blob may be without a record. */
const GRACE_MS = HOUR_MS;
const BETWEEN_PASSES_MS = HOUR_MS;
/** Every so many passes looks at all blobs again: a clock may have moved to and fro. */
const PASSES_A_FULL_ONE = 24;

export interface OrphanOptions {
  store: Store;
  leases: Leases;
  bytes: BlobBytes;
  deletions: Deletions;
  isRecent: (name: BlobName) => boolean;
}

interface Pass {
  beganMs: number;
  found: AsyncGenerator<readonly FoundBytes[]>;
}

export class Orphans {
  readonly #steps: LeasedSteps<Pass>;
  #pass: Pass | null = null;
  #beganMs = -Infinity;
  /** When the last pass that came to its end had begun. */
  #endedMs = -Infinity;
  #passes = 0;

  constructor(private readonly options: OrphanOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "blob-orphans",
      pending: () => Promise.resolve(this.#pass === null ? [] : [this.#pass]),
      step: (pass) => this.#step(pass),
    });
  }

  /** Begins a pass if none was begun within the hour, and works until it has ended, or another process works. */
  async run(): Promise<void> {
    const nowMs = this.options.store.now();
    if (this.#pass === null && Math.abs(nowMs - this.#beganMs) >= BETWEEN_PASSES_MS) {
      this.#pass = this.#begin(nowMs);
    }
    await this.#steps.run();
  }

  /** Ends after the step under way. */
  async close(): Promise<void> {
    await this.#steps.close();
    await this.#pass?.found.return(undefined);
  }

  #begin(nowMs: number): Pass {
    const isFull = this.#passes++ % PASSES_A_FULL_ONE === 0 || nowMs < this.#endedMs;
    // The last pass has looked at what was settled by then; clocks of others may lag.
    const sinceMs = isFull ? -Infinity : this.#endedMs - 2 * GRACE_MS;
    this.#beganMs = nowMs;
    return {
      beganMs: nowMs,
      found: this.options.bytes.found(sinceMs, (name) => this.#isClosed(name)),
    };
  }

  /** A time ahead of the clock is as good as one long ago: it was written by another clock. */
  #isClosed(name: BlobName): boolean {
    const { store: { now }, isRecent } = this.options;
    return Math.abs(now() - writtenMs(name)) > GRACE_MS && !isRecent(name);
  }

  async #step(pass: Pass): Promise<boolean> {
    try {
      const { done, value } = await pass.found.next();
      if (!done) {
        await this.options.deletions.schedule(await this.#withoutRow(value));
        return true;
      }
      this.#endedMs = pass.beganMs;
    } catch (error) {
      this.#pass = null; // the next hour begins anew
      throw error;
    }
    this.#pass = null;
    return false;
  }

  async #withoutRow(found: readonly FoundBytes[]): Promise<FoundBytes[]> {
    const rows = await this.options.store.getMany(found.map(({ name }) => blobKey(...name)));
    return found.filter((_, at) => rows[at]!.value === null);
  }
}
