/** Drops from memory what other processes on a shared store have purged. */
import type { Store } from "../../../base/storage/rows/store.ts";
import { PURGE_MARK, purgeKey, type PurgeRecord } from "./purge_record.ts";
import type { RecentMessages } from "./recent_messages.ts";

/** How old the knowledge of purges may be before memory is read. */
const FRESH_MS = 2_000;

export class FollowedPurges {
  #lookedMs = -Infinity;
  #mark: string | null | undefined;
  #looking: Promise<void> | null = null;

  constructor(
    private readonly store: Store,
    private readonly recent: Pick<RecentMessages, "purge">,
  ) {}

  /** Called before memory is read, on shared stores: a purge elsewhere shows two seconds later at most. */
  async refresh(): Promise<void> {
    const sinceMs = this.store.now() - this.#lookedMs;
    if (sinceMs >= 0 && sinceMs < FRESH_MS) return;
    await (this.#looking ??= this.#look().finally(() => this.#looking = null));
  }

  async #look(): Promise<void> {
    const { store } = this;
    const nowMs = store.now();
    const { versionstamp } = await store.get(PURGE_MARK);
    if (versionstamp !== this.#mark) {
      const rows = await store.list<PurgeRecord>({ prefix: purgeKey.under() });
      for (const { key, value } of rows) this.recent.purge(key[1] as number, value.beforeId);
      this.#mark = versionstamp;
    }
    this.#lookedMs = nowMs;
  }
}
