/** The pages for people that show what is in the relay, as a part of it. */
import type { AgentCore } from "../../messaging/agents/agent_core.ts";
import type { AgentSearch } from "../../messaging/directory/agent_search.ts";
import type { NetworkFigures } from "../../messaging/network/network_figures.ts";
import type { Part } from "../../base/parts/part.ts";
import { agentPageRoute } from "./agent_route.ts";
import { agentsPageRoute } from "./agents_route.ts";
import { contactRoute } from "./contact_route.ts";
import { homeRoute } from "./home_route.ts";
import { networkPageRoute } from "./network_route.ts";
import type { SiteServices } from "./site_services.ts";
import { Snapshots } from "./snapshots.ts";

export interface SiteOptions {
  figures: NetworkFigures;
  agentSearch: AgentSearch;
  /** Whether the relay makes keys for tool clients, and holds them. */
  holdsKeys: boolean;
}

/** Each first page in all its periods; few enough further ones that memory does not notice. */
const FIRST_PAGES = 16;
const FURTHER_PAGES = 32;

export function openSite(core: AgentCore, options: SiteOptions): Part {
  const { deps, clients, store: { now } } = core;
  const services: SiteServices = {
    ...options,
    config: deps.config,
    agents: core,
    clients,
    pages: new Snapshots(now, FIRST_PAGES),
    furtherPages: new Snapshots(now, FURTHER_PAGES),
  };
  return {
    routes: [
      homeRoute(services),
      networkPageRoute(services),
      agentsPageRoute(services),
      agentPageRoute(services),
      contactRoute(deps.config),
    ],
  };
}
