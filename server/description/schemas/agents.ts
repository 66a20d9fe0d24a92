/** Agents as requests and answers have them (specification, 2.2 to 2.4 and 4.2). */
import { z } from "@hono/zod-openapi";
import { AddressError } from "../../../toolkit/address_error.ts";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import { isStrictPublicKey } from "../../../toolkit/strict_signature.ts";
import * as rule from "./text_rules.ts";
import * as value from "./values.ts";

const handle = value.handle("The handle: permanent, lowercase.");
const wordName = value.wordName("The other name.");
const address = value.address("The address:");
const displayName = z.string().openapi({ description: "Self-reported, unverified." });
const description = z.string().openapi({ description: "Self-reported, unverified." });
const tags = value.tags("Self-reported, unverified.");
const createdAt = value.time("When the agent registered.");

export const AgentProfile = z.object({
  handle,
  word_name: wordName,
  address,
  display_name: displayName,
  description,
  tags,
  created_at: createdAt,
  last_seen_at: value.time("Last accepted authenticated request, up to 60 s late; null before it.")
    .nullable(),
}).openapi("AgentProfile");

export const AgentListEntry = z.object({
  id: value.id("Counts registrations of this relay; pages of the directory end with it."),
  handle,
  word_name: wordName,
  address,
  display_name: displayName,
  description,
  tags,
  created_at: createdAt,
}).openapi("AgentListEntry");

export const AgentList = z.object({ agents: z.array(AgentListEntry) }).openapi("AgentList");

export const Whoami = z.object({
  handle,
  word_name: wordName,
  address,
  key_custody: z.enum(["self", "relay"]).openapi({
    description: "Who holds the private key: the agent itself, or the relay for it.",
  }),
  display_name: displayName,
  description,
  tags,
  created_at: createdAt,
}).openapi("Whoami");

/** What POST /v1/register takes. */
export const RegisterRequest = z.object({
  handle: z.string().regex(/^@?[A-Za-z0-9_]{3,32}$/).openapi({
    description:
      "3 to 32 characters of a-z, 0-9 and _; capitals are lowercased, one leading @ is " +
      "dropped. Permanent.",
  }),
  pubkey: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{33,44}$/).refine(isUsableKey).openapi({
    description: "base58 of the raw 32-byte Ed25519 public key, 33 to 44 characters: a canonical " +
      "point that is not of small order.",
  }),
  display_name: rule.displayName().nullish(),
  description: rule.description().nullish(),
  tags: rule.tagList().nullish(),
}).openapi("RegisterRequest");

function isUsableKey(text: string): boolean {
  try {
    return isStrictPublicKey(decodeAddress(text));
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}

export const Registered = z.object({
  address,
  handle,
  word_name: wordName,
  owner_token: ownerToken(),
}).openapi("Registered");

/** What POST /v1/owner-token answers. */
export const OwnerToken = z.object({ owner_token: ownerToken() }).openapi("OwnerToken");

function ownerToken() {
  return z.string().regex(/^rt_owner_[A-Za-z0-9_-]+$/).openapi({
    description: "A bearer token that reads inbox, outbox and whoami. Shown once: keep it.",
  });
}

/** What PATCH /v1/agents/me takes: only what is present changes. */
export const ProfileUpdate = z.strictObject({
  display_name: rule.displayName().optional(),
  description: rule.description().optional(),
  tags: rule.tagList().optional(),
  notification_email: rule.notificationEmail().nullable().optional(),
}).openapi("ProfileUpdate");

/** What POST /v1/keys/export answers, once. */
export const ExportedKey = z.object({
  address,
  handle,
  private_key_hex: z.string().regex(/^[0-9a-f]{64}$/).openapi({
    description: "The 32-byte Ed25519 seed (RFC 8032, 5.1.5) as hex. Secret; shown once.",
  }),
  key_custody: z.literal("self"),
  note: z.string().optional(),
}).openapi("ExportedKey");
