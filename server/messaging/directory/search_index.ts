/**
 * The directory in memory. It finds who matches a text and tags, in the order of the specification
 * (4.4), without keeping an order: of all who may match, it compares those who were seen late enough
 * to stand on the page.
 */
import { SliceClock } from "../../base/slices/slice_clock.ts";
import { AgentBlock, BLOCK_AGENTS, FIELD_BREAK, planesOf } from "./agent_block.ts";
import { LastSeen } from "./last_seen.ts";
import { agentListEntry, type ListingRow } from "./listing.ts";
import type { SearchQuery } from "./search_query.ts";

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
    { text, tags }: SearchQuery,
    { order, offset, limit }: SearchPage,
    clock: SliceClock = new SliceClock(),
  ): Promise<string[]> {
    // A break would match between fields, half a letter within one.
    if (text.includes(FIELD_BREAK) || !text.isWellFormed()) return [];
    const wanted = offset + limit;
    const planes = planesOf(text, tags);
    const first = order === "activity" ? this.#withHandle(text, tags) : undefined;
    let found: Match[] = first === undefined ? [] : [{ agentId: first, seenMs: Infinity }];
    /** Who was not seen after this is not on the page: ids descend. */
    let afterMs = -1;
    for (let place = this.#blocks.length - 1; place >= 0; place--) {
      if (clock.isOver) await clock.next();
      if (order === "newest" && found.length >= wanted) break;
      const block = this.#blocks[place]!;
      const seen = this.lastSeen.from(place * BLOCK_AGENTS, BLOCK_AGENTS);
      for (const agentId of block.candidates(planes, seen, afterMs)) {
        const seenMs = order === "newest" ? 0 : this.lastSeen.of(agentId);
        if (seenMs <= afterMs || agentId === first || !block.holds(agentId, text, tags)) continue;
        found.push({ agentId, seenMs });
        if (found.length < 2 * wanted) continue;
        found = best(found, wanted);
        afterMs = found.at(-1)!.seenMs;
      }
    }
    return best(found, wanted).slice(offset)
      .map(({ agentId }) => this.#blocks[placeOf(agentId)]!.read(agentId))
      .filter((listing) => listing !== undefined)
      .map((listing) => JSON.stringify(agentListEntry(listing)));
  }

  /** Who has a handle, and all of some tags. */
  #withHandle(handle: string, tags: readonly string[]): number | undefined {
    const planes = planesOf(handle, tags, handle);
    for (const block of this.#blocks) {
      const isIt = (agentId: number) => block.read(agentId)?.handle === handle;
      const agentId = block.candidates(planes).find(isIt);
      if (agentId !== undefined) return block.holds(agentId, handle, tags) ? agentId : undefined;
    }
  }
}

function placeOf(agentId: number): number {
  return Math.floor(agentId / BLOCK_AGENTS);
}

function best(found: Match[], count: number): Match[] {
  return found.sort((a, b) => b.seenMs - a.seenMs || b.agentId - a.agentId).slice(0, count);
}
