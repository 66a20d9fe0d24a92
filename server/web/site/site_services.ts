/** What pages read from, each through the functions that its part shows. */
import type { ActiveAgentServices } from "../../messaging/agents/active_agents.ts";
import type { ClientAddresses } from "../../base/http/callers/client_address.ts";
import type { Config } from "../../base/config/config.ts";
import type { AgentSearch } from "../../messaging/directory/agent_search.ts";
import type { NetworkFigures } from "../../messaging/network/network_figures.ts";
import type { Snapshots } from "./snapshots.ts";

export interface SiteServices {
  config: Config;
  figures: NetworkFigures;
  agentSearch: AgentSearch;
  agents: ActiveAgentServices;
  /** Whether the relay makes keys for tool clients, and holds them. */
  holdsKeys: boolean;
  clients: ClientAddresses;
  /** The first page of each kind, which many look at. */
  pages: Snapshots;
  /** Further pages of lists, which few look at. */
  furtherPages: Snapshots;
}
