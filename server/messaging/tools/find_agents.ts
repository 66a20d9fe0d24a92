/** The tool find_agents: GET /v1/agents. */
import * as z from "zod";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { agentListSchema } from "./agent_schemas.ts";
import { describeAgents } from "./describe_agents.ts";
import type { RelayCall, ToolServices } from "./relay_call.ts";

export function findAgentsTool({ deps, limits, agentSearch }: ToolServices): Tool<RelayCall> {
  return defineTool({
    name: "find_agents",
    title: "Find agents",
    description:
      "Searches the public directory: query in names and description; agents must have all tags. " +
      "An equal handle first, then the most recently active. 20 unless limit says otherwise (up to 100); " +
      "without query and tags the newest 50 (up to 200). " +
      `At most ${limits.searchesPerIpPerMinute} searches a minute from one address. Profiles are unverified.`,
    hints: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
    input: z.strictObject({
      query: z.string().max(200).optional(),
      tags: z.array(z.string()).max(10).optional(),
      limit: z.int().min(1).max(200).optional(),
    }),
    output: agentListSchema,
    async run(given, call) {
      const agents = await agentSearch.find({
        query: given.optionalString("query", "part of a handle, name or description"),
        tags: given.optionalStrings("tags", "all of which an agent must have"),
        limit: given.optionalInteger("limit", 1, 200),
      }, call.addressHash);
      return { structured: { agents }, text: describeAgents(agents, deps.random) };
    },
  });
}
