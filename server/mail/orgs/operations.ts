/** Orgs in the API description (specification, 2.11 and 4.7). */
import { z } from "@hono/zod-openapi";
import { address, time } from "../../base/description/schemas/values.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { DescribedRoutes } from "../access/paths.ts";
import { mailId } from "../access/schemas.ts";

export const Org = z.object({
  org_id: mailId("org", "The org."),
  trial: z.boolean().openapi({ description: "Receives only, until it is claimed." }),
  verified_email: z.string().nullable(),
  expires_at: time("End of the trial; null for a verified org.").nullable(),
  google_email: z.string().nullable(),
  inboxes: z.object({ count: z.int().min(0), limit: z.int().min(0) }),
  pending_claim: z.object({ email: z.string(), expires_at: time("End of its link.") }).nullable(),
}).openapi("MailOrg");

const RegisterRequest = z.object({
  public_key: address("The key that registers:"),
  timestamp: z.int().openapi({
    description: "Unix time in whole seconds, at most 300 from the server's.",
  }),
  signature: z.string().regex(/^[A-Za-z0-9+/]{85}[AQgw]==$/).openapi({
    description: "Standard base64 of the Ed25519 signature over the UTF-8 of " +
      "`relay-mail:register:{public_key}:{timestamp}`.",
  }),
  label: z.string().max(100).nullable().optional().openapi({
    description: "Names the first API key.",
  }),
}).openapi("MailRegisterRequest");

const Registered = z.object({
  org_id: mailId("org", "The trial org of the key."),
  agent_id: z.int().min(1).openapi({ description: "A number of the mail area's own." }),
  api_key: z.string().regex(/^rm_sk_[A-Za-z0-9_-]{43}$/).openapi({
    description: "Shown this once.",
  }),
  key_prefix: z.string().length(12),
  trial: z.boolean(),
  expires_in_hours: z.int(),
  note: z.string(),
}).openapi("MailRegistered");

const Suspension = z.object({ org_id: mailId("org", "The org."), suspended: z.boolean() })
  .openapi("MailSuspension");

const ORG_EXAMPLE = {
  org_id: "org_01KAQ4M9Z3T8X0V2B7N5C1D6EF",
  trial: true,
  verified_email: null,
  expires_at: "2026-05-29T20:26:40.000Z",
  google_email: null,
  inboxes: { count: 0, limit: 1 },
  pending_claim: null,
};

export function orgRoutes(limits: Limits): DescribedRoutes {
  const register = {
    description: "Gives an Ed25519 key an org of its own and its first API key: no account, no " +
      `human step. The org is a trial of ${limits.mailTrialHours} hours, which receives and cannot ` +
      "send; a person claims it.\n\nSign `relay-mail:register:{public_key}:{timestamp}`. A key " +
      "registers once, and the API key is **shown once**: repeated, the request is 409 " +
      `\`handle_taken\`. At most ${limits.mailRegistrationsPerIpPerHour} per client address an hour.`,
    body: {
      description: "Unknown fields are ignored.",
      schema: RegisterRequest,
    },
    answers: {
      201: {
        description: "Registered.",
        headers: ["Cache-Control"],
        content: { schema: Registered },
      },
    },
    errors: {
      invalid_pubkey: null,
      timestamp_out_of_range: null,
      invalid_signature: "the signature does not verify",
      handle_taken: "the key has an org already, which may be one of an earlier request like this",
      rate_limited: "too many registrations for mail from this client address",
    },
  } as const;
  const suspension = {
    answers: {
      200: { description: "How the org stands.", content: { schema: Suspension } },
    },
    errors: { not_found: "no org has this id" },
  } as const;
  return {
    registerMail: register,
    registerMailTrial: {
      ...register,
      description: `Another name of POST /v1/mail/agents/register.\n\n${register.description}`,
    },
    readMailOrg: {
      description: "The org of the API key: is it a trial, until when, who verified it, how many " +
        "inboxes it has.",
      answers: {
        200: {
          description: "The org.",
          headers: ["Cache-Control"],
          content: { schema: Org, examples: { trial: ORG_EXAMPLE } },
        },
      },
    },
    deleteMailOrg: {
      description:
        "Deletes the org for good: its keys die at once, and everything that it has is " +
        "erased. Its addresses are never given out again.",
      body: {
        description: "The org's own id, so that nothing is deleted by mistake.",
        schema: z.object({ org_id: mailId("org", "Must be the org of the API key.") })
          .openapi("MailOrgDeletion"),
      },
      answers: { 204: { description: "Deleted." } },
    },
    suspendMailOrg: {
      description:
        "Suspends an org: its keys answer 403 `org_suspended`, and its mail stops both " +
        "ways. Repeating changes nothing.",
      ...suspension,
    },
    unsuspendMailOrg: {
      description: "Lifts the suspension of an org. Repeating changes nothing.",
      ...suspension,
    },
  };
}
