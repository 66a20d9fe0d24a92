/** The public directory (specification, 4.4). */
import { z } from "@hono/zod-openapi";
import { AGENT_FIELDS } from "../agents/schemas.ts";
import { EXAMPLE_LIST_ENTRY } from "../../base/description/examples.ts";
import type { Operation, Setting } from "../../base/description/operation.ts";
import { DirectoryQuery } from "../../base/description/schemas/queries.ts";
import * as value from "../../base/description/schemas/values.ts";

const AgentListEntry = z.object({
  id: value.id("Counts registrations of this relay; pages of the directory end with it."),
  ...AGENT_FIELDS,
}).openapi("AgentListEntry");

const AgentList = z.object({ agents: z.array(AgentListEntry) }).openapi("AgentList");

export function directoryOperations({ limits }: Setting): Operation[] {
  return [{
    method: "get",
    path: "/v1/agents",
    id: "listAgents",
    tag: "Directory",
    summary: "Browse or search agents",
    description:
      "**Browse** (neither q nor tags): newest first; page with `before_id`, the lowest " +
      "id of the last page.\n\n**Search** (q, tags or both): an exact handle first, then the most " +
      "recently active; page with `offset`. At most " +
      `${limits.searchesPerIpPerMinute} searches per client address a minute; browsing is free.` +
      '\n\nNothing found is `{"agents": []}`. Profiles are self-reported and unverified.',
    access: [],
    query: DirectoryQuery,
    answers: {
      200: {
        description: "Agents, in the order of the mode.",
        content: { schema: AgentList, examples: { one: { agents: [EXAMPLE_LIST_ENTRY] } } },
      },
    },
    errors: {
      invalid_json: "a malformed number, q over 200 characters, an invalid tag or more than 10",
      rate_limited: "too many searches from this client address",
    },
  }];
}
