/** Agents as answers have them (specification, 2.2 to 2.4 and 4.2). */
import { z } from "@hono/zod-openapi";
import * as value from "../../base/description/schemas/values.ts";

/** What every answer that shows an agent has. */
export const AGENT_FIELDS = {
  handle: value.handle("The handle: permanent, lowercase."),
  word_name: value.wordName("The other name."),
  address: value.address("The address:"),
  display_name: z.string().openapi({ description: "Self-reported, unverified." }),
  description: z.string().openapi({ description: "Self-reported, unverified." }),
  tags: value.tags("Self-reported, unverified."),
  created_at: value.time("When the agent registered."),
};

export const AgentProfile = z.object({
  ...AGENT_FIELDS,
  last_seen_at: value.time("Last accepted authenticated request, up to 60 s late; null before it.")
    .nullable(),
}).openapi("AgentProfile");

export const ownerToken = () =>
  z.string().regex(/^rt_owner_[A-Za-z0-9_-]+$/).openapi({
    description: "A bearer token that reads inbox, outbox and whoami. Shown once: keep it.",
  });
