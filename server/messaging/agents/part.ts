/** Agents as a part of the relay: their routes, and when each was last seen. */
import type { AgentCore } from "./agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import { flushLast } from "../../base/parts/flush_last.ts";
import type { Part } from "../../base/parts/part.ts";
import { AGENT_COUNT } from "./register_agent.ts";
import { AGENT_ROUTES } from "./routes.ts";

export interface Agents extends Part {
  /** Whether any has ever registered. */
  hasAgents(): Promise<boolean>;
}

export function openAgents(core: AgentCore): Agents {
  const { presence, store } = core;
  return {
    hasAgents: async () => (await store.get(AGENT_COUNT)).value !== null,
    routes: mount(AGENT_ROUTES, core),
    everyMinute: () => presence.flush(),
    close: () => flushLast(presence),
  };
}
