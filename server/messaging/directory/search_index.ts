/**
 * The directory in memory. It finds who matches a text and tags, in the order of the specification
 * (4.4). It does not look at agents that cannot match.
 */
import { HandleTable } from "./handle_table.ts";
import { agentListEntry, type ListingRow } from "./listing.ts";
import { PackedListings } from "./packed_listings.ts";
import type { Recency } from "./recency.ts";
import type { SearchQuery } from "./search_query.ts";
import { FIELD_BREAK, SignaturePlanes } from "./signature_planes.ts";

export interface SearchPage {
  /** "activity": an equal handle first, then most recently seen. "newest": latest registered first. */
  order: "activity" | "newest";
  offset: number;
  limit: number;
}

interface Effort {
  /** Up to this many candidates are sorted. More are looked at in the order of `recency`. */
  sorted: number;
  /** Agents that are looked at in that order before the candidates are narrowed down instead. */
  steps: number;
}
const QUICK: Effort = { sorted: 1_000, steps: 20_000 };
const THOROUGH: Effort = { sorted: 30_000, steps: Infinity };
/** How long candidates are compared before others have the thread. */
const SLICE_MS = 10;
const encoder = new TextEncoder();

/** A query as the packed listings compare it. */
interface Sought {
  text: Uint8Array;
  /** Each between commas. */
  tags: readonly Uint8Array[];
  order: SearchPage["order"];
  /** Matches up to the end of the page. */
  wanted: number;
}

export class SearchIndex {
  readonly #listings = new PackedListings();
  readonly #handles = new HandleTable();
  readonly #planes = new SignaturePlanes();

  /** @param recency kept by the caller, since it is still used when the index is read again */
  constructor(private readonly recency: Recency) {}

  get size(): number {
    return this.#listings.size;
  }

  /** Makes room for agents up to an id: afterwards none of them takes longer than the others. */
  reserve(upToId: number): void {
    this.#listings.reserve(upToId);
    this.#handles.reserve(upToId);
  }

  /** Adds an agent, or replaces what was known of it. */
  put(listing: ListingRow): void {
    const { id, handle, wordName, displayName, description, tags } = listing;
    const text = [handle, wordName, displayName, description]
      .map((field) => field.toLowerCase()).join(FIELD_BREAK);
    if (this.#listings.has(id)) this.#planes.remove(id);
    this.#listings.put(listing, text);
    this.#handles.add(handle, id);
    this.#planes.add(id, text, tags);
  }

  remove(agentId: number): void {
    if (!this.#listings.has(agentId)) return;
    this.#listings.remove(agentId);
    this.#planes.remove(agentId);
  }

  /**
   * A page of matches, each as the JSON of its AgentListEntry. Where many agents have to be compared,
   * others use the thread meanwhile. What they change may or may not show.
   */
  async search(query: SearchQuery, { order, offset, limit }: SearchPage): Promise<string[]> {
    // A break in the text would match between fields. Half a letter is in no listing: their bytes
    // are UTF-8, which has none.
    if (query.text.includes(FIELD_BREAK) || !query.text.isWellFormed()) return [];
    const sought: Sought = {
      text: encoder.encode(query.text),
      tags: query.tags.map((tag) => encoder.encode(`,${tag},`)),
      order,
      wanted: offset + limit,
    };
    const candidates = this.#planes.candidates(query.text, query.tags);
    let found = this.#take(candidates, query.text, sought, QUICK);
    if (found === null) {
      await this.#narrow(candidates, sought);
      found = this.#take(candidates, query.text, sought, THOROUGH)!;
    }
    return found.slice(offset)
      .map((agentId) => JSON.stringify(agentListEntry(this.#listings.read(agentId))));
  }

  /** The first of the candidates that match, in order; null when they are not found in few steps. */
  #take(
    candidates: Uint32Array,
    handle: string,
    sought: Sought,
    { sorted, steps }: Effort,
  ): number[] | null {
    const { order, wanted } = sought;
    const first = order === "activity"
      ? this.#handles.find(handle, (agentId) => this.#listings.hasHandle(agentId, sought.text))
      : undefined;
    const found: number[] = [];
    if (first !== undefined && this.#matches(first, sought)) found.push(first);
    if (order === "activity" && hasAtMost(candidates, sorted)) {
      const all = [...descending(candidates)]
        .filter((agentId) => agentId !== first && this.#matches(agentId, sought));
      return [...found, ...all.sort((a, b) => this.recency.compare(a, b))].slice(0, wanted);
    }
    let left = steps;
    for (
      const agentId of order === "newest" ? descending(candidates) : this.#byActivity(candidates)
    ) {
      if (found.length === wanted) break;
      if (left-- === 0) return null;
      if (has(candidates, agentId) && agentId !== first && this.#matches(agentId, sought)) {
        found.push(agentId);
      }
    }
    return found;
  }

  /** All agents that were ever seen, then the candidates that were not. */
  *#byActivity(candidates: Uint32Array): Generator<number> {
    yield* this.recency.walk();
    for (const agentId of descending(candidates)) {
      if (this.recency.seenMs(agentId) === 0) yield agentId;
    }
  }

  /** Leaves only the candidates that match. In the order of ids, which memory gives fastest. */
  async #narrow(candidates: Uint32Array, sought: Sought): Promise<void> {
    let pauseAtMs = performance.now() + SLICE_MS;
    for (let word = 0; word < candidates.length; word++) {
      let left = candidates[word]!;
      if (left === 0) continue;
      for (; left !== 0; left &= left - 1) {
        const bit = 31 - Math.clz32(left & -left);
        if (!this.#matches(word * 32 + bit, sought)) candidates[word]! &= ~(1 << bit);
      }
      if (performance.now() < pauseAtMs) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      pauseAtMs = performance.now() + SLICE_MS;
    }
  }

  #matches(agentId: number, { text, tags }: Sought): boolean {
    return this.#listings.matches(agentId, text, tags);
  }
}

function has(bits: Uint32Array, agentId: number): boolean {
  return ((bits[Math.floor(agentId / 32)] ?? 0) >>> (agentId % 32) & 1) === 1;
}

function* descending(bits: Uint32Array): Generator<number> {
  for (let word = bits.length - 1; word >= 0; word--) {
    let left = bits[word]!;
    while (left !== 0) {
      const bit = 31 - Math.clz32(left);
      yield word * 32 + bit;
      left = (left & ~(1 << bit)) >>> 0;
    }
  }
}

function hasAtMost(bits: Uint32Array, limit: number): boolean {
  let count = 0;
  for (let word = 0; word < bits.length && count <= limit; word++) {
    let left = bits[word]!;
    if (left === 0) continue;
    left -= left >>> 1 & 0x55555555;
    left = (left & 0x33333333) + (left >>> 2 & 0x33333333);
    count += Math.imul(left + (left >>> 4) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count <= limit;
}
