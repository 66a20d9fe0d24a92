/**
 * How often one client address may search (specification, section 8). Only answered searches count.
 * On an exclusive store the window is kept in memory. On a shared store a record holds it, so that
 * the limit holds across processes.
 */
import { defineRecord } from "../storage/record_key.ts";
import { rateLimited } from "../errors.ts";
import { admit, type Window } from "../rate_window.ts";
import { BoundedMap } from "../bounded_map.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/store.ts";
import { MINUTE_MS } from "../time_units.ts";

/** Addresses whose windows memory holds. */
const REMEMBERED = 100_000;

/** ["window", "search", addressHash] */
interface SearchWindow {
  v: 1;
  window: Window;
  attempt: string;
}

const windowKey = defineRecord<SearchWindow, [addressHash: string]>(["window", "search"], 1);

export interface SearchLimitOptions {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  searchesPerMinute: number;
}

export class SearchLimit {
  readonly #windows = new BoundedMap<string, Window>(REMEMBERED);

  constructor(private readonly options: SearchLimitOptions) {}

  /** Before the search, without counting it. @throws RelayError `rate_limited` */
  async refuseMore(addressHash: string): Promise<void> {
    const { store, records } = this.options;
    const window = store.exclusive
      ? this.#windows.get(addressHash)
      : (await records.read<SearchWindow>(windowKey(addressHash)))?.window;
    this.#admit(window ?? []);
  }

  /** Counts a search that is about to be answered. @throws RelayError `rate_limited` */
  async count(addressHash: string): Promise<void> {
    const { store, commits } = this.options;
    if (store.exclusive) {
      this.#windows.set(addressHash, this.#admit(this.#windows.get(addressHash) ?? []));
      return;
    }
    const key = windowKey(addressHash);
    await commits.submit<null>({
      records: [key],
      sizeBytes: 500,
      whateverTheClock: true, // nothing could be found
      plan: (turn) => {
        const window = this.#admit(turn.record<SearchWindow>(key)?.window ?? []);
        turn.putRecord(
          key,
          { v: 1, window, attempt: turn.attempt } satisfies SearchWindow,
          MINUTE_MS + EXPIRY_MARGIN_MS,
        );
        return null;
      },
    });
  }

  #admit(window: Window): Window {
    const { store, searchesPerMinute } = this.options;
    const rule = { limit: searchesPerMinute, windowMs: MINUTE_MS };
    const admitted = admit(window, store.now(), rule);
    if ("window" in admitted) return admitted.window;
    throw rateLimited(
      `at most ${searchesPerMinute} directory searches a minute from one address; wait retry_after_ms, then search again (browsing, without q and tags, is not limited)`,
      admitted.retryAfterMs,
      {
        toolMessage:
          `at most ${searchesPerMinute} directory searches a minute from one address; wait retry_after_ms, then search again (list_agents without query is not limited)`,
      },
    );
  }
}
