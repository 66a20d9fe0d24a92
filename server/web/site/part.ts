/** The pages for people that show what is in the relay, as a part of it. */
import type { AgentCore } from "../../messaging/agents/agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import { readAgentPage } from "./agent_route.ts";
import { readAgentsPage } from "./agents_route.ts";
import { readContactPage } from "./contact_route.ts";
import { readHome } from "./home_route.ts";
import { readNetworkPage } from "./network_route.ts";
import type { SiteOptions } from "./site_services.ts";
import { Snapshots } from "./snapshots.ts";

/** Each first page in all its periods; few enough further ones that memory does not notice. */
const FIRST_PAGES = 16;
const FURTHER_PAGES = 32;

/** Routes without the home page, which is described with the service. */
export const SITE_ROUTES = [readNetworkPage, readAgentsPage, readAgentPage, readContactPage];

export function openSite(core: AgentCore, options: SiteOptions): Part {
  const { now } = core.store;
  const services = {
    ...core,
    ...options,
    pages: new Snapshots(now, FIRST_PAGES),
    furtherPages: new Snapshots(now, FURTHER_PAGES),
  };
  return { routes: mount([readHome, ...SITE_ROUTES], services) };
}
