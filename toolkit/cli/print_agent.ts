import type { AgentListEntry, AgentProfile, WhoamiRecord } from "../client/records.ts";
import { printFields } from "./print_fields.ts";

/** What is known of an agent, for people. */
export function printAgent(agent: AgentProfile | AgentListEntry | WhoamiRecord): string {
  return printFields({
    // First what is no claim: names come after the key.
    address: agent.address,
    "word name": agent.word_name,
    handle: agent.handle,
    name: agent.display_name,
    description: agent.description,
    tags: agent.tags.join(" "),
    custody: "key_custody" in agent ? agent.key_custody : undefined,
    registered: agent.created_at,
    "last seen": "last_seen_at" in agent ? agent.last_seen_at ?? "never" : undefined,
  });
}
