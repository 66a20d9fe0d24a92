/**
 * What a client asks of the directory, by REST or by a tool, with one limit and one reading of
 * queries.
 */
import { PAGE_LIMIT } from "../../base/description/schemas/queries.ts";
import { agentListEntry } from "./listing.ts";
import type { Directory } from "./directory.ts";
import type { SearchLimit } from "./search_limit.ts";
import type { SearchPage } from "./search_index.ts";
import { readSearchQuery, type SearchQuery } from "./search_query.ts";

export type AgentListEntry = ReturnType<typeof agentListEntry>;

export interface AgentQuery {
  /** As given; absent or blank: none. */
  query: string | undefined;
  /** As given; absent or empty: none. */
  tags: readonly string[] | undefined;
  /** Absent: the mode's default. Clamped. */
  limit: number | undefined;
}

/** Specification, 4.4. */
export const SEARCH_LIMIT = { default: 20, max: 100 };

export class AgentSearch {
  constructor(private readonly directory: Directory, private readonly limit: SearchLimit) {}

  /**
   * Browses when query and tags are absent, else searches, which counts against the client's limit.
   * @param addressHash keyed hash of the client's address
   * @throws RelayError `invalid_json`, `rate_limited`
   */
  async find(
    { query, tags, limit }: AgentQuery,
    addressHash: () => string,
  ): Promise<AgentListEntry[]> {
    const search = readSearchQuery(query, tags ?? [], "query");
    if (search === null) return await this.browse(limit, undefined);
    const page: SearchPage = { order: "activity", offset: 0, limit: clamp(limit, SEARCH_LIMIT) };
    return (await this.search(search, page, addressHash())).map((json) => JSON.parse(json));
  }

  /** The latest registered agents first; with a query, those that match. @throws as find */
  async list(
    { query, limit }: Omit<AgentQuery, "tags">,
    addressHash: () => string,
  ): Promise<AgentListEntry[]> {
    const search = readSearchQuery(query, [], "query");
    if (search === null) return await this.browse(limit, undefined);
    const page: SearchPage = { order: "newest", offset: 0, limit: clamp(limit, PAGE_LIMIT) };
    return (await this.search(search, page, addressHash())).map((json) => JSON.parse(json));
  }

  /** Agents below an id, latest registered first. */
  async browse(limit: number | undefined, beforeId: number | undefined): Promise<AgentListEntry[]> {
    const listings = await this.directory.browse(clamp(limit, PAGE_LIMIT), beforeId);
    return listings.map(agentListEntry);
  }

  /**
   * A search that counts once it can be answered. @returns AgentListEntries as JSON
   * @param counted false to find without counting (HEAD)
   * @throws RelayError `rate_limited`
   */
  async search(
    query: SearchQuery,
    page: SearchPage,
    addressHash: string,
    counted = true,
  ): Promise<string[]> {
    await this.limit.refuseMore(addressHash);
    const entries = await this.directory.search(query, page);
    if (counted) await this.limit.count(addressHash);
    return entries;
  }
}

/** A limit as asked for, within a mode's bounds. */
export function clamp(limit: number | undefined, bounds: { default: number; max: number }): number {
  return Math.min(bounds.max, Math.max(1, limit ?? bounds.default));
}
