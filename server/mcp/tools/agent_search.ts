/** What the two directory tools ask of the directory. */
import type { AgentListEntry } from "./agent_schemas.ts";

export interface AgentQuery {
  /** As given; absent or blank: none. */
  query: string | undefined;
  /** As given; absent or empty: none. */
  tags: readonly string[] | undefined;
  /** Absent: the mode's default. Clamped. */
  limit: number | undefined;
}

export interface AgentSearch {
  /**
   * GET /v1/agents: browse without query and tags, else search, which counts in the client's
   * searches.
   * @param addressHash keyed hash of the client's address
   * @throws RelayError `invalid_json`, `rate_limited`
   */
  find(query: AgentQuery, addressHash: () => string): Promise<AgentListEntry[]>;
  /** The newest agents first, of those that match where there is a query. @throws as find */
  list(query: Omit<AgentQuery, "tags">, addressHash: () => string): Promise<AgentListEntry[]>;
}
