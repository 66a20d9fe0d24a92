/**
 * The public directory. It browses from the store, and searches an index in memory. Before each
 * search the index is updated with what any process has registered or changed since.
 */
import { AGENT_COUNT } from "../agents/register_agent.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import { doneWithin } from "../../base/time/done_within.ts";
import { RelayError } from "../../base/errors.ts";
import { coalesceRuns } from "../../base/storage/leases/coalesce_runs.ts";
import { LastSeen } from "./last_seen.ts";
import { changeKey, LISTING_LOG, listingKey, type ListingLog, type ListingRow } from "./listing.ts";
import type { DirectoryPacks } from "./directory_packs.ts";
import { SearchIndex, type SearchPage } from "./search_index.ts";
import type { SearchQuery } from "./search_query.ts";

export interface DirectoryOptions
  extends Pick<AgentCore, "store" | "records" | "presence" | "publicReads"> {
  /** Null when the store is exclusive: its one process starts from the rows. */
  packs: DirectoryPacks | null;
  buildWaitMs?: number;
}

/** How old a page of the directory may be if this process has not changed the directory since. */
const BROWSE_MAX_AGE_MS = 2_000;
const LIST_BATCH = 500;
/** Other requests are served after so many agents, which take the thread 2 ms. */
const BUILD_BATCH = 200;
/** Reads of the store under way while the index is built: the thread need not wait for each. */
const BUILD_LANES = 2;
const IDS_A_SPAN = 2_000;
/** How long a search waits for the index to be built; of 100,000 agents it takes 2 s. */
const BUILD_WAIT_MS = 10_000;

/** What the index holds: agents up to an id, changes up to a number. */
interface Indexed {
  index: SearchIndex;
  seq: number;
  upToId: number;
}

export class Directory {
  readonly #lastSeen = new LastSeen();
  #indexed: Indexed | null = null;
  /** Whether the index has been up to date once: since then it takes a moment. */
  #isBuilt = false;
  readonly #upToDate: () => Promise<SearchIndex>;

  readonly #touch = (agentId: number, seenMs: number) => this.#lastSeen.touch(agentId, seenMs);

  constructor(private readonly options: DirectoryOptions) {
    this.#upToDate = coalesceRuns(() => this.#bringUpToDate());
  }

  /** Agents below an id, latest registered first. */
  async browse(limit: number, beforeId: number | undefined): Promise<ListingRow[]> {
    const { store, publicReads } = this.options;
    const read = () => this.#readListings(limit, beforeId);
    return store.exclusive
      ? await publicReads.recent(`browse/${limit}/${beforeId}`, BROWSE_MAX_AGE_MS, read)
      : await publicReads.run(read);
  }

  async #readListings(limit: number, beforeId: number | undefined): Promise<ListingRow[]> {
    const store = this.options.store;
    const selector = beforeId === undefined
      ? { prefix: listingKey.under() }
      : { prefix: listingKey.under(), end: listingKey(beforeId) };
    const rows = await store.list<ListingRow>(selector, { reverse: true, limit });
    return rows.map(({ value }) => value);
  }

  /**
   * Matching agents, each as the JSON of its AgentListEntry.
   * @throws RelayError `unavailable` while the first search of a large directory builds the index
   */
  async search(query: SearchQuery, page: SearchPage): Promise<string[]> {
    const index = this.#upToDate();
    const { buildWaitMs = BUILD_WAIT_MS } = this.options;
    if (!this.#isBuilt && !await doneWithin(index, buildWaitMs)) throw stillBuilding();
    return (await index).search(query, page);
  }

  async #bringUpToDate(): Promise<SearchIndex> {
    const { presence } = this.options;
    const { seq, upToId } = await this.#head();
    if (this.#indexed !== null && !(await this.#readChanges(this.#indexed, seq))) {
      this.#indexed = null;
      this.#isBuilt = false;
    }
    this.#indexed ??= await this.#load(seq);
    // Side by side: while the store reads for one, the thread works for the other. Both end before
    // a failure is told, since the next run must not begin beside them.
    const both = await Promise.allSettled([
      this.#readRegistered(this.#indexed, upToId),
      presence.follow(this.#touch),
    ]);
    for (const one of both) if (one.status === "rejected") throw one.reason;
    this.#isBuilt = true;
    return this.#indexed.index;
  }

  /** The store's latest agent id and change number. */
  async #head(): Promise<{ seq: number; upToId: number }> {
    const { store, records } = this.options;
    if (store.exclusive) {
      const [log, count] = await Promise.all([
        records.read<ListingLog>(LISTING_LOG),
        records.read<number>(AGENT_COUNT),
      ]);
      return { seq: log?.seq ?? 0, upToId: count ?? 0 };
    }
    const [log, count] = await store.getMany<[ListingLog, number]>([LISTING_LOG, AGENT_COUNT]);
    return { seq: log.value?.seq ?? 0, upToId: count.value ?? 0 };
  }

  /** Reads the whole directory, as of a change up to `seq` or of `seq` itself. */
  async #load(seq: number): Promise<Indexed> {
    const index = new SearchIndex(this.#lastSeen);
    const packed = await this.options.packs?.load((listing) => index.put(listing)) ?? null;
    if (packed !== null) {
      const indexed = { index, ...packed };
      if (await this.#readChanges(indexed, seq)) return indexed;
    }
    return { index: new SearchIndex(this.#lastSeen), seq, upToId: 0 };
  }

  /** Reads the changes up to one. @returns false when some of them have expired */
  async #readChanges(indexed: Indexed, seq: number): Promise<boolean> {
    if (indexed.seq >= seq) return true;
    const store = this.options.store;
    const selector = { start: changeKey(indexed.seq + 1), end: changeKey(seq + 1) };
    const changes = await store.list<number>(selector, { batchSize: LIST_BATCH });
    if (changes.length < seq - indexed.seq) return false;
    const agentIds = [...new Set(changes.map(({ value }) => value))];
    for (const { key, value } of await store.getMany<ListingRow[]>(agentIds.map(listingKey))) {
      if (value === null) indexed.index.remove(key[1] as number);
      else indexed.index.put(value);
    }
    indexed.seq = seq;
    return true;
  }

  async #readRegistered(indexed: Indexed, upToId: number): Promise<void> {
    const firstId = indexed.upToId + 1;
    if (firstId > upToId) return;
    let nextId = firstId;
    const readSpans = async () => {
      while (nextId <= upToId) {
        const fromId = nextId;
        nextId += IDS_A_SPAN;
        await this.#readSpan(indexed.index, fromId, Math.min(nextId, upToId + 1));
      }
    };
    const lanes = await Promise.allSettled(Array.from({ length: BUILD_LANES }, readSpans));
    for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
    indexed.upToId = upToId;
  }

  async #readSpan(index: SearchIndex, fromId: number, endId: number): Promise<void> {
    const { store } = this.options;
    const selector = { start: listingKey(fromId), end: listingKey(endId) };
    for await (const rows of store.batches<ListingRow>(selector, { batchSize: BUILD_BATCH })) {
      for (const { value } of rows) index.put(value);
    }
  }
}

function stillBuilding(): RelayError {
  return new RelayError(
    "unavailable",
    "the relay has just started and still reads its directory; search again after Retry-After (browsing, without q and tags, goes on)",
    { retryAfterMs: 5_000 },
  );
}
