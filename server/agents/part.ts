/** Agents as a part of the relay: their routes, and when each was last seen. */
import type { AgentCore } from "./agent_core.ts";
import { mount } from "../description/declaration.ts";
import { flushLast } from "../flush_last.ts";
import type { Part } from "../part.ts";
import { AGENT_ROUTES } from "./routes.ts";

export function openAgents(core: AgentCore): Part {
  const { presence } = core;
  return {
    routes: mount(AGENT_ROUTES, core),
    everyMinute: () => presence.flush(),
    close: () => flushLast(presence),
  };
}
