/** What pages read from, each through the functions that its part shows. */
import type { AgentCore } from "../../messaging/agents/agent_core.ts";
import type { AgentSearch } from "../../messaging/directory/agent_search.ts";
import type { NetworkFigures } from "../../messaging/network/network_figures.ts";
import type { Snapshots } from "./snapshots.ts";

export interface SiteOptions {
  figures: NetworkFigures;
  agentSearch: AgentSearch;
  /** Whether the relay makes keys for tool clients, and holds them. */
  holdsKeys: boolean;
}

export interface SiteServices extends AgentCore, SiteOptions {
  /** The first page of each kind, which many look at. */
  pages: Snapshots;
  /** Further pages of lists, which few look at. */
  furtherPages: Snapshots;
}
