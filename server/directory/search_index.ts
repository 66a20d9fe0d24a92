/**
 * The directory in memory. It finds who matches a text and tags, in the order of the specification
 * (4.4). It does not look at agents that cannot match.
 */
import { agentListEntry, type ListingRow } from "./listing.ts";
import type { Recency } from "./recency.ts";
import type { SearchQuery } from "./search_query.ts";
import { FIELD_BREAK, SignaturePlanes } from "./signature_planes.ts";

interface Entry {
  handle: string;
  /** AgentListEntry as JSON. */
  json: string;
  /** The text that a search looks at: the four fields, lowercased. */
  text: string;
  tags: readonly string[];
}

export interface SearchPage {
  /** "activity": an equal handle first, then most recently seen. "newest": latest registered first. */
  order: "activity" | "newest";
  offset: number;
  limit: number;
}

/** Up to this many candidates are sorted. More are looked at in the order of `recency`. */
const FEW_CANDIDATES = 1_000;
const NO_TAGS: readonly string[] = [];

export class SearchIndex {
  readonly #entries: (Entry | undefined)[] = [];
  readonly #byHandle = new Map<string, number>();
  readonly #planes = new SignaturePlanes();

  /** @param recency kept by the caller, since it is still used when the index is read anew */
  constructor(private readonly recency: Recency) {}

  get size(): number {
    return this.#byHandle.size;
  }

  /** Adds an agent, or replaces what was known of it. */
  put(listing: ListingRow): void {
    this.remove(listing.id);
    const { handle, wordName, displayName, description } = listing;
    const text = [handle, wordName, displayName, description]
      .map((field) => field.toLowerCase()).join(FIELD_BREAK);
    const tags = listing.tags.length === 0 ? NO_TAGS : listing.tags;
    const json = JSON.stringify(agentListEntry(listing));
    while (this.#entries.length <= listing.id) this.#entries.push(undefined);
    this.#entries[listing.id] = { handle, json, text, tags };
    this.#byHandle.set(handle, listing.id);
    this.#planes.add(listing.id, text, tags);
  }

  remove(agentId: number): void {
    const entry = this.#entries[agentId];
    if (entry === undefined) return;
    this.#planes.remove(agentId, entry.text, entry.tags);
    this.#byHandle.delete(entry.handle);
    this.#entries[agentId] = undefined;
  }

  /** A page of matches, each as the JSON of its AgentListEntry. */
  search(query: SearchQuery, { order, offset, limit }: SearchPage): string[] {
    // A break in the text would match between fields.
    if (query.text.includes(FIELD_BREAK)) return [];
    const first = order === "activity" ? this.#byHandle.get(query.text) : undefined;
    const wanted = offset + limit;
    const found: number[] = [];
    if (first !== undefined && this.#matches(first, query)) found.push(first);
    for (const agentId of this.#inOrder(query, order)) {
      if (found.length === wanted) break;
      if (agentId !== first && this.#matches(agentId, query)) found.push(agentId);
    }
    return found.slice(offset, wanted).map((agentId) => this.#entries[agentId]!.json);
  }

  #matches(agentId: number, { text, tags }: SearchQuery): boolean {
    const entry = this.#entries[agentId];
    return entry !== undefined && tags.every((tag) => entry.tags.includes(tag)) &&
      (text === "" || entry.text.includes(text));
  }

  /** Agents that may match, in order. */
  *#inOrder(query: SearchQuery, order: SearchPage["order"]): Generator<number> {
    const candidates = this.#planes.candidates(query.text, query.tags);
    if (order === "newest") {
      yield* descending(candidates);
      return;
    }
    if (hasAtMost(candidates, FEW_CANDIDATES)) {
      yield* [...descending(candidates)].filter((agentId) => this.#matches(agentId, query))
        .sort((a, b) => this.recency.compare(a, b));
      return;
    }
    for (const agentId of this.recency.walk()) if (has(candidates, agentId)) yield agentId;
    for (const agentId of descending(candidates)) {
      if (this.recency.seenMs(agentId) === 0) yield agentId;
    }
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
