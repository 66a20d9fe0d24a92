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

/** Agents that are looked at between two looks at the clock: of the largest profiles 1 ms. */
const LOOKS_A_GLANCE = 512;
const encoder = new TextEncoder();

export interface SearchPage {
  /** "activity": an equal handle first, then most recently seen. "newest": latest registered first. */
  order: "activity" | "newest";
  offset: number;
  limit: number;
}

interface Asked {
  /** By block. */
  candidates: readonly Int32Array[];
  sought: Sought;
  /** The agent whose handle is the text: comes first. */
  first: number | undefined;
  order: SearchPage["order"];
  /** Matches up to the end of the page. */
  wanted: number;
}

interface Match {
  agentId: number;
  /** The later before the earlier; Infinity for an equal handle, 0 where only ids count. */
  seenMs: number;
}

export class SearchIndex {
  readonly #blocks: AgentBlock[] = [];

  /** @param lastSeen kept by the caller, since it is still good when the index is read again */
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
    const planes = planesOf(query);
    const candidates = this.#blocks.map((block) => block.candidates(planes));
    const first = order === "activity" ? this.#withHandle(query.text, candidates) : undefined;
    const asked = { candidates, sought, first, order, wanted: offset + limit };
    let found: Match[] = [];
    // Where many match, those who were seen lately fill the page.
    for (const late of order === "activity" ? [this.lastSeen.late(), null] : [null]) {
      found = await this.#find(asked, late, clock);
      if (found.length >= asked.wanted) break;
    }
    return found.slice(offset)
      .map(({ agentId }) => this.#blocks[placeOf(agentId)]!.read(agentId))
      .filter((listing) => listing !== null)
      .map((listing) => JSON.stringify(agentListEntry(listing)));
  }

  #withHandle(handle: string, candidates: readonly Int32Array[]): number | undefined {
    const planes = handlePlanes(handle);
    const anybody = { seenMs: this.lastSeen.seenMs, afterMs: -1 };
    for (const [place, block] of this.#blocks.entries()) {
      const few = block.candidates(planes, candidates[place]);
      const agentId = block.descending(few, null, anybody)
        .find((agentId) => block.read(agentId)?.handle === handle);
      if (agentId !== undefined) return agentId;
    }
  }

  /** The first matches in order. @param late where only they are looked at */
  async #find(
    { candidates, sought, first, order, wanted }: Asked,
    late: Int32Array | null,
    clock: SliceClock,
  ): Promise<Match[]> {
    let found: Match[] = [];
    /** Agents not seen after this are not on the page: ids descend. */
    let afterMs = -1;
    let looks = 0;
    for (let place = candidates.length - 1; place >= 0; place--) {
      if (order === "newest" && found.length >= wanted) break;
      const block = this.#blocks[place]!;
      const { seenMs: times } = this.lastSeen;
      for (
        const agentId of block.descending(candidates[place]!, late, { seenMs: times, afterMs })
      ) {
        if (looks++ % LOOKS_A_GLANCE === 0 && clock.isOver) await clock.next();
        const seenMs = order === "newest" ? 0 : times[agentId] ?? 0;
        if (seenMs <= afterMs || agentId === first || !block.holds(agentId, sought)) continue;
        found.push({ agentId, seenMs });
        if (found.length < 2 * wanted) continue;
        found = best(found, wanted);
        afterMs = found.at(-1)!.seenMs;
      }
    }
    if (first !== undefined && this.#blocks[placeOf(first)]!.holds(first, sought)) {
      found.push({ agentId: first, seenMs: Infinity });
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
