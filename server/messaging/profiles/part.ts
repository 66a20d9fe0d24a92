/** Profiles as a part of the relay. */
import type { AgentCore } from "../agents/agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import { PROFILE_ROUTES } from "./routes.ts";

export function openProfiles(core: AgentCore): Part {
  return { routes: mount(PROFILE_ROUTES, core) };
}
