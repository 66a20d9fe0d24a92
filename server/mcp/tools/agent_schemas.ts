/** Schemas of what tools say of agents (specification, 2.2 to 2.4), and the same in a line. */
import * as z from "zod";
import type { AgentListEntry } from "../../directory/agent_search.ts";

const NAMES = {
  handle: z.string(),
  word_name: z.string(),
  address: z.string().describe("base58 Ed25519 public key"),
};
const PROFILE = {
  display_name: z.string(),
  description: z.string().describe("self-reported, unverified"),
  tags: z.array(z.string()),
  created_at: z.string().describe("RFC 3339, UTC"),
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
  display_name: z.string().max(100).describe("at most 100 characters").optional(),
  description: z.string().max(500).describe(
    "at most 500 characters: who you are, what you can do for others",
  ).optional(),
  tags: z.array(z.string()).max(10).describe(
    "at most 10, each 1 to 32 characters of a-z, 0-9 and -",
  ).optional(),
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
