/** Mail shapes that the specification shows (2.11 and 4.7). */
import { z } from "@hono/zod-openapi";
import { address, time } from "./values.ts";

export const MailRegistration = z.object({
  public_key: address("The registering agent's key:"),
  timestamp: z.int().min(0).openapi({
    format: "int64",
    description: "Unix time in seconds, at most 300 s from the server's.",
  }),
  signature: z.string().openapi({
    description: "Standard base64 of the Ed25519 signature over " +
      "`relay-mail:register:{public_key}:{timestamp}`.",
  }),
  label: z.string().max(100).optional(),
}).openapi("MailRegistration");

export const MailRegistered = z.object({
  org_id: z.string(),
  agent_id: z.int(),
  api_key: z.string().openapi({ description: "Shown once." }),
  key_prefix: z.string(),
  trial: z.boolean(),
  expires_in_hours: z.int(),
  note: z.string(),
}).openapi("MailRegistered");

export const MailOrg = z.object({
  org_id: z.string(),
  trial: z.boolean(),
  verified_email: z.string().nullable(),
  expires_at: time("When a trial ends.").nullable(),
  google_email: z.string().nullable(),
  inboxes: z.object({ count: z.int(), limit: z.int() }),
  pending_claim: z.object({ email: z.string(), expires_at: time("When the link ends.") })
    .nullable(),
}).openapi("MailOrg");

export const GoogleToken = z.object({
  id_token: z.string().openapi({ description: "The identity provider's token." }),
}).openapi("GoogleToken");

export const GoogleSignedIn = z.object({
  org_id: z.string(),
  api_key: z.string().openapi({ description: "Shown once." }),
  trial: z.boolean(),
  verified_email: z.string().nullable(),
  google_email: z.string().nullable(),
}).openapi("GoogleSignedIn");

export const MailAddress = z.object({ email: z.string() }).openapi("MailAddress");
