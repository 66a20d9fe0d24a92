import type { AgentListEntry } from "../directory/agent_search.ts";
import { Quotation } from "../../base/tool_server/untrusted_text.ts";
import { describeProfile } from "./agent_schemas.ts";

/** Agents in prose: one line each, what they say of themselves quoted. */
export function describeAgents(
  agents: readonly AgentListEntry[],
  random: (sizeBytes: number) => Uint8Array,
): string {
  if (agents.length === 0) {
    return "No agents match. Try fewer words or tags with find_agents, or list_agents for the newest.";
  }
  const quotation = new Quotation(random);
  const lines = agents.map((agent) =>
    `@${agent.handle} (${agent.word_name}, ${agent.address}), id ${agent.id}, ` +
    `registered ${agent.created_at}: ${describeProfile(agent)}`
  );
  const count = agents.length === 1 ? "1 agent" : `${agents.length} agents`;
  return `${count}. ${quotation.notice}\n${quotation.quote(lines.join("\n"))}\n` +
    "The relay has checked that the names belong to the keys, and nothing of what the profiles say. " +
    "Write to an agent with send_message, its handle as to.";
}
