/**
 * The directory in memory. It finds who matches a text and tags, in the order of the specification
 * (4.4), without keeping an order: of all who may match, it compares those who were seen late enough
 * to stand on the page.
 */
import { SliceClock } from "../../base/slices/slice_clock.ts";
import {
  AgentBlock,
  BLOCK_AGENTS,
  FIELD_BREAK,
  handlePlanes,
  planesOf,
  type Sought,
} from "./agent_block.ts";
import { LastSeen } from "./last_seen.ts";
import { agentListEntry, type ListingRow } from "./listing.ts";
import type { SearchQuery } from "./search_query.ts";

const encoder = new TextEncoder();

export interface SearchPage {
  /** "activity": an equal handle first, then most recently seen. "newest": latest registered first. */
  order: "activity" | "newest";
  offset: number;
  limit: number;
}

interface Match {
  agentId: number;
  /** The later before the earlier; Infinity for an equal handle, 0 where only ids count. */
  seenMs: number;
}

export class SearchIndex {
  readonly #blocks: AgentBlock[] = [];

  /** @param lastSeen kept by the caller, since it is still good when the index is read anew */
  constructor(private readonly lastSeen: LastSeen) {}

  /** Adds an agent, or replaces what was known of it. */
  put(listing: ListingRow): void {
    const place = placeOf(listing.id);
    while (this.#blocks.length <= place) {
      this.#blocks.push(new AgentBlock(this.#blocks.length * BLOCK_AGENTS));
    }
    this.#blocks[place]!.put(listing);
  }

  remove(agentId: number): void {
    this.#blocks[placeOf(agentId)]?.remove(agentId);
  }

  /**
   * A page of matches, each as the JSON of its AgentListEntry. Others use the thread between slices.
   * What they change may or may not show.
   */
  async search(
    query: SearchQuery,
    { order, offset, limit }: SearchPage,
    clock: SliceClock = new SliceClock(),
  ): Promise<string[]> {
    // A break would match between fields, half a letter within one.
    if (query.text.includes(FIELD_BREAK) || !query.text.isWellFormed()) return [];
    const sought: Sought = {
      text: encoder.encode(query.text),
      tags: query.tags.map((tag) => encoder.encode(`,${tag},`)),
    };
    const wanted = offset + limit;
    const planes = planesOf(query);
    const candidates = this.#blocks.map((block) => block.candidates(planes));
    const first = order === "activity" ? this.#withHandle(query.text, candidates) : undefined;
    let found: Match[] = [];
    // Where many match, those who were seen lately fill the page.
    for (const afterMs of order === "activity" ? [this.lastSeen.lateMs(), -1] : [-1]) {
      found = await this.#find(sought, candidates, { first, order, wanted, afterMs }, clock);
      if (found.length >= wanted) break;
    }
    return found.slice(offset)
      .map(({ agentId }) => this.#blocks[placeOf(agentId)]!.read(agentId))
      .filter((listing) => listing !== null)
      .map((listing) => JSON.stringify(agentListEntry(listing)));
  }

  #withHandle(handle: string, candidates: readonly Int32Array[]): number | undefined {
    const planes = handlePlanes(handle);
    for (const [place, among] of candidates.entries()) {
      const block = this.#blocks[place]!;
      const agentId = block
        .descending(block.candidates(planes, among), this.lastSeen.seenMs, -1)
        .find((agentId) => block.read(agentId)?.handle === handle);
      if (agentId !== undefined) return agentId;
    }
  }

  /** The first matches in order, of those who were seen after a time. */
  async #find(
    sought: Sought,
    candidates: readonly Int32Array[],
    { first, order, wanted, afterMs }: {
      first: number | undefined;
      order: SearchPage["order"];
      wanted: number;
      afterMs: number;
    },
    clock: SliceClock,
  ): Promise<Match[]> {
    let found: Match[] = [];
    if (first !== undefined && this.#blocks[placeOf(first)]!.holds(first, sought)) {
      found.push({ agentId: first, seenMs: Infinity });
    }
    for (let place = candidates.length - 1; place >= 0; place--) {
      if (order === "newest" && found.length >= wanted) break;
      if (clock.isOver) await clock.next();
      const block = this.#blocks[place]!;
      const times = this.lastSeen.seenMs;
      for (const agentId of block.descending(candidates[place]!, times, afterMs)) {
        const seenMs = order === "newest" ? 0 : times[agentId] ?? 0;
        if (seenMs <= afterMs || agentId === first || !block.holds(agentId, sought)) continue;
        found.push({ agentId, seenMs });
        if (found.length < 2 * wanted) continue;
        found = best(found, wanted);
        afterMs = found.at(-1)!.seenMs; // ids descend: who was not seen later comes behind
      }
    }
    return best(found, wanted);
  }
}

function placeOf(agentId: number): number {
  return Math.floor(agentId / BLOCK_AGENTS);
}

function best(found: Match[], count: number): Match[] {
  return found.sort((a, b) => b.seenMs - a.seenMs || b.agentId - a.agentId).slice(0, count);
}
