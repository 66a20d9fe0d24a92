/** What the operator sends and sees (specification, 4.5, and additions). */
import { z } from "@hono/zod-openapi";
import { AddressError } from "../../../../toolkit/address_error.ts";
import { decodeAddress } from "../../../../toolkit/decode_address.ts";
import * as rule from "./text_rules.ts";
import * as value from "./values.ts";

const pubkey = () =>
  z.string().refine(isAddress).openapi({
    pattern: "^[1-9A-HJ-NP-Za-km-z]{33,44}$",
    description: "The agent's address.",
  });

const handle = () =>
  z.string().regex(/^@?[A-Za-z0-9_]{3,32}$/).nullish().openapi({
    "x-addition": true,
    description: "The agent's handle, in place of `pubkey`; capitals and a leading @ do no harm.",
  });

const named = { pubkey: pubkey().nullish(), handle: handle() };

/** Exactly one of the two names the agent. */
function namesOne(request: { pubkey?: string | null; handle?: string | null }): boolean {
  return ((request.pubkey ?? null) === null) !== ((request.handle ?? null) === null);
}

/** What POST /v1/admin/ban takes. */
export const BanRequest = z.object({ ...named, reason: rule.banReason().nullish() })
  .refine(namesOne).openapi("BanRequest");

/** What POST /v1/admin/unban takes. */
export const UnbanRequest = z.object(named).refine(namesOne).openapi("UnbanRequest");

const Ban = z.object({
  pubkey: value.address("The agent's address:"),
  handle: value.handle("Its handle."),
  reason: z.string().nullable().openapi({ description: "As the operator gave it." }),
  banned_at: value.time("When it was banned; null for a ban that is older than this list.")
    .nullable(),
}).openapi("Ban");

/** What GET /v1/admin/bans answers. */
export const BanList = z.object({ bans: z.array(Ban) }).openapi("BanList");

/** What POST /v1/admin/purge takes. */
export const PurgeRequest = z.object({ pubkey: pubkey() }).openapi("PurgeRequest");

/** What POST /v1/admin/purge answers. */
export const Purging = z.object({
  pubkey: value.address("The agent's address:"),
  status: z.literal("purging"),
}).openapi("Purging");

function isAddress(text: string): boolean {
  try {
    return decodeAddress(text).length === 32;
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}
