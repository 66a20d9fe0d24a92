/** Schemas of agents as tools show them (specification, 2.2 to 2.4), and the same in a line. */
import * as z from "zod";
import type { AgentListEntry } from "../directory/agent_search.ts";

const NAMES = {
  handle: z.string(),
  word_name: z.string(),
  address: z.string(),
};
const PROFILE = {
  display_name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  created_at: z.string(),
};

export const whoamiSchema = z.strictObject({
  ...NAMES,
  key_custody: z.enum(["self", "relay"]),
  ...PROFILE,
});

export const agentProfileSchema = z.strictObject({
  ...NAMES,
  ...PROFILE,
  last_seen_at: z.string().optional(),
});

export const agentListSchema = z.strictObject({
  agents: z.array(z.strictObject({ id: z.int(), ...NAMES, ...PROFILE })),
});

/** What agents may say of themselves, as arguments of register and update_profile. */
export const PROFILE_ARGUMENTS = {
  display_name: z.string().max(100).optional(),
  description: z.string().max(500).optional(),
  tags: z.array(z.string()).max(10).describe("each 1-32 of a-z, 0-9, -").optional(),
};

/** Profile text in prose, as JSON strings so that no line of it can pose as another. */
export function describeProfile(
  { display_name, description, tags }: Pick<
    AgentListEntry,
    "display_name" | "description" | "tags"
  >,
): string {
  return [
    `display_name ${JSON.stringify(display_name)}`,
    `description ${JSON.stringify(description)}`,
    `tags ${JSON.stringify(tags)}`,
  ].join(", ");
}
