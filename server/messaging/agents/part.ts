/** Agents as a part of the relay: their routes, and when each was last seen. */
import type { AgentCore } from "./agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import { flushLast } from "../../base/parts/flush_last.ts";
import type { Part } from "../../base/parts/part.ts";
import { AGENT_ROUTES } from "./routes.ts";

export function openAgents(core: AgentCore): Part {
  const { presence } = core;
  return {
    routes: mount(AGENT_ROUTES, core),
    everyMinute: () => presence.flush(),
    close: () => flushLast(presence),
  };
}
