/** The tool server as a part of the relay. */
import type { Core } from "../core.ts";
import type { Part } from "../part.ts";
import { toolNotes, toolRoutes } from "./routes.ts";
import type { ToolServices } from "./tools/relay_call.ts";

/** What the tools call of other parts. */
export type ToolOptions = Omit<ToolServices, keyof Core>;

export function openTools(core: Core, options: ToolOptions): Part {
  return {
    routes: toolRoutes({ ...core, ...options }),
    notes: toolNotes(core.deps.config),
  };
}
