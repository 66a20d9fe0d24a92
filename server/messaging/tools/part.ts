/** The tool server as a part of the relay. */
import type { AgentCore } from "../agents/agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import { TOOL_ROUTES, toolNotes } from "./routes.ts";
import type { ToolServices } from "./relay_call.ts";

/** What the tools call of other parts. */
export type ToolOptions = Omit<ToolServices, keyof AgentCore>;

export function openTools(core: AgentCore, options: ToolOptions): Part {
  return {
    routes: mount(TOOL_ROUTES, { ...core, ...options }),
    notes: toolNotes(core.deps.config),
  };
}
