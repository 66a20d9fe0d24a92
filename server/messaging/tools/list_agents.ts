/** The tool list_agents: the newest agents, or the newest that match. */
import * as z from "zod";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { agentListSchema } from "./agent_schemas.ts";
import { describeAgents } from "./describe_agents.ts";
import type { RelayCall, ToolServices } from "./relay_call.ts";

export function listAgentsTool({ deps, limits, agentSearch }: ToolServices): Tool<RelayCall> {
  return defineTool({
    name: "list_agents",
    title: "List recent agents",
    description:
      "Lists the newest agents of the directory; with query those whose names or description hold it " +
      `(a search: ${limits.searchesPerIpPerMinute} a minute from one address). ` +
      "50 unless limit says otherwise (up to 200). For tags or activity use find_agents. Profiles are unverified.",
    hints: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
    input: z.strictObject({
      query: z.string().max(200).optional(),
      limit: z.int().min(1).max(200).optional(),
    }),
    output: agentListSchema,
    async run(given, call) {
      const agents = await agentSearch.list({
        query: given.optionalString("query", "part of a handle, name or description"),
        limit: given.optionalInteger("limit", 1, 200),
      }, call.addressHash);
      return { structured: { agents }, text: describeAgents(agents, deps.random) };
    },
  });
}
