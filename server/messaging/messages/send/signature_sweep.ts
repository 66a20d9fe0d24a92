/**
 * Deletes what signed requests were answered once no clock lets them pass any more. The rows carry no
 * expiry of the store's: it follows the system's clock, and after a leap ahead and back the same requests
 * would pass again. Here the floor is raised first (rows/repeat_floor.ts), to the newest of the rows
 * that are to go, and not to the time up to which they go: after a leap it stays near the right time.
 */
import { keepSignatureUntilMs, sigKey } from "../../agents/signature_use.ts";
import type { Log } from "../../../base/log.ts";
import type { Leases } from "../../../base/storage/leases/leases.ts";
import { FLOOR_KEY, type FloorRow } from "../../../base/storage/rows/repeat_floor.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../../base/storage/rows/store.ts";
import { timestamp } from "../../../base/time/timestamp.ts";
import { BUCKET_SECONDS, sigGroupKey } from "./use_group.ts";

/** Rows of one commit: the store does nothing else for some 5 ms, and then as long what others want. */
const ROWS_A_COMMIT = 100;
/** More rows a minute than a store takes; what a long stop left goes over some minutes. */
const COMMITS_A_RUN = 3_000;
/** A shutdown waits no longer for it. */
const MAX_PAUSE_MS = 200;
const LEASE_MS = 60_000;

export interface SignatureSweepOptions {
  store: Store;
  leases: Leases;
  /** Whether every process that may commit knows the floor of this version, or a newer one. */
  isFloorKnown: (version: string) => Promise<boolean>;
  signatureWindowSeconds: number;
  log: Log;
  rowsACommit?: number;
  commitsARun?: number;
}

export class SignatureSweep {
  readonly #options: Required<SignatureSweepOptions>;
  #running: Promise<void> | null = null;
  /** The floor that the log has named. */
  #toldVersion: string | null = null;
  #closed = false;

  constructor(options: SignatureSweepOptions) {
    this.#options = { rowsACommit: ROWS_A_COMMIT, commitsARun: COMMITS_A_RUN, ...options };
  }

  /** Works for a bounded while, unless another process does. Called every minute. */
  run(): Promise<void> {
    return this.#running ??= this.#leased().finally(() => this.#running = null);
  }

  /** Ends after the commit under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running?.catch(() => {});
  }

  async #leased(): Promise<void> {
    const { store, leases } = this.#options;
    if (this.#closed || !store.clock.isSure) return;
    const lease = await leases.take("signature-sweep", LEASE_MS);
    if (lease === null) return;
    try {
      await this.#sweep(() => lease.keep());
    } finally {
      await lease.release();
    }
  }

  /** @param goesOn false once another process has the lease */
  async #sweep(goesOn: () => Promise<boolean>): Promise<void> {
    const { store: { floor, clock, elapsed, exclusive }, isFloorKnown, commitsARun } =
      this.#options;
    const untilSecond = this.#forgettableSecond();
    await floor.learn();
    this.#tellOfWait();
    let knownVersion: string | null = null;
    for (let commits = 0; commits < commitsARun && !this.#closed; commits++) {
      if (!clock.isSure || !await goesOn()) return;
      const beganMs = elapsed();
      const { second, version } = floor;
      const isAsKnown = (row: Deno.KvEntryMaybe<FloorRow>) =>
        // Where this process alone raises it, its version changes when the journal saves it too.
        exclusive ? row.value?.second === second : row.versionstamp === version;
      const keys = await this.#keysUpTo(Math.max(0, Math.min(untilSecond, second)));
      if (keys.length === 0) {
        const newest = await this.#newestUpTo(untilSecond);
        if (newest <= second) return;
        await floor.raise(newest);
        if (exclusive) continue;
        return; // processes that renew their leases will know it in a minute
      }
      if (knownVersion !== version) {
        if (!await isFloorKnown(version)) return;
        knownVersion = version;
      }
      if (!await this.#delete(keys, isAsKnown)) return;
      const pauseMs = Math.min(MAX_PAUSE_MS, elapsed() - beganMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** The operator should know why sends are refused, and until when. */
  #tellOfWait(): void {
    const { store: { floor, now }, log } = this.#options;
    if (floor.second * 1000 <= now() || floor.version === this.#toldVersion) return;
    this.#toldVersion = floor.version;
    log("signed_requests_wait", { until: timestamp(floor.second * 1000) });
  }

  /** The newest signed second that can pass no more, with the margin of all that decides. */
  #forgettableSecond(): number {
    const { store: { now }, signatureWindowSeconds } = this.#options;
    const keptMs = keepSignatureUntilMs(0, signatureWindowSeconds) + EXPIRY_MARGIN_MS;
    return Math.floor((now() - keptMs) / 1000) - 1;
  }

  /** Keys of rows whose signatures are all from this second or before, some of each kind in order. */
  async #keysUpTo(second: number): Promise<Deno.KvKey[]> {
    const { store, rowsACommit } = this.#options;
    const keys: Deno.KvKey[] = [];
    for (const range of rangesUpTo(second)) {
      const limit = rowsACommit - keys.length;
      for (const { key } of await store.list(range, { limit })) keys.push(key);
    }
    return keys;
  }

  /** The newest second that is signed in such rows; of the ten seconds of a group, the last. */
  async #newestUpTo(second: number): Promise<number> {
    const { store } = this.#options;
    let newest = -Infinity;
    for (const range of rangesUpTo(second)) {
      for (const { key } of await store.list(range, { limit: 1, reverse: true })) {
        newest = Math.max(newest, lastSecondOf(key));
      }
    }
    return newest;
  }

  /** @returns false when the floor is not this one any more */
  async #delete(
    keys: readonly Deno.KvKey[],
    isAsKnown: (row: Deno.KvEntryMaybe<FloorRow>) => boolean,
  ): Promise<boolean> {
    return await this.#options.store.transact(async (transaction) => {
      if (!isAsKnown(await transaction.get<FloorRow>(FLOOR_KEY))) return false;
      for (const key of keys) transaction.delete(key);
      return true;
    });
  }
}

/** Rows of groups, and of single requests (use_group.ts, signature_use.ts). */
function rangesUpTo(second: number): Deno.KvListSelector[] {
  return [
    { prefix: sigGroupKey.under(), end: sigGroupKey.under(second - BUCKET_SECONDS + 2) },
    { start: sigKey.under(0), end: sigKey.under(second + 1) },
  ];
}

function lastSecondOf([, second, firstOfTen]: Deno.KvKey): number {
  return second === "group" ? Number(firstOfTen) + BUCKET_SECONDS - 1 : Number(second);
}
