/** Profiles as a part of the relay. */
import type { AgentCore } from "../agents/agent_core.ts";
import type { Part } from "../part.ts";
import { profileRoutes } from "./routes.ts";

export function openProfiles(core: AgentCore): Part {
  return { routes: profileRoutes(core) };
}
