/** Routes of orgs: registration, the org itself, and what its operator decides (specification, 2.11 and 4.7). */
import { z } from "@hono/zod-openapi";
import { address } from "../../base/description/schemas/values.ts";
import type { Setting } from "../../base/description/operation.ts";
import { invalidJson } from "../../base/errors.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { noContent } from "../../base/http/answers/no_content.ts";
import { keyRoute, type MailRequest, openRoute, operatorRoute } from "../access/mail_route.ts";
import { mailId, newApiKey, unkept } from "../access/schemas.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { Org, shownOrg } from "../mailbox/shown/shown_org.ts";
import { deleteOrg, requireStanding, setSuspended } from "./change_org.ts";
import type { Erasures } from "./erasures.ts";
import { registerOrg } from "./register_org.ts";
import { readRegistration } from "./registration_request.ts";

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
  api_key: newApiKey(),
  key_prefix: z.string().length(12),
  trial: z.boolean(),
  expires_in_hours: z.int(),
  note: z.string(),
}).openapi("MailRegistered");

const REGISTERING = {
  method: "POST",
  may: "public",
  summary: "Register for mail",
} as const;

function registerWords({ limits }: Setting) {
  return {
    description: "Gives an Ed25519 key an org of its own and its first API key: no account, no " +
      `human step. The org is a trial of ${limits.mailTrialHours} hours, which receives and cannot ` +
      "send; a person claims it.\n\nSign `relay-mail:register:{public_key}:{timestamp}`. A key " +
      "registers once, and the API key is **shown once**: repeated, the request is 409 " +
      `\`handle_taken\`. At most ${limits.mailRegistrationsPerIpPerHour} per client address an hour.`,
    body: { description: "Unknown fields are ignored.", schema: RegisterRequest },
    answers: { 201: unkept("Registered.", Registered) },
    errors: {
      invalid_pubkey: null,
      timestamp_out_of_range: null,
      invalid_signature: "the signature does not verify",
      handle_taken: "the key has an org already, which may be one of an earlier request like this",
      rate_limited: "too many registrations for mail from this client address",
    },
  };
}

const register = (services: MailCore) => async ({ c, body }: MailRequest) => {
  const { limits, store, freeDisk, secret, clients } = services;
  const request = readRegistration(await body(), store.clock, limits.signatureWindowSeconds);
  await freeDisk.refuseWhenFull();
  await secret.key("mail-link"); // made with the first org
  const { org, apiKey, keyPrefix } = await registerOrg(services, request, clients.hashOf(c));
  return answerJson(
    {
      org_id: org.id,
      agent_id: org.agentId,
      api_key: apiKey,
      key_prefix: keyPrefix,
      trial: true,
      expires_in_hours: limits.mailTrialHours,
      note: `A trial: its inbox receives for ${limits.mailTrialHours} hours and cannot send. ` +
        "Keep the API key, it is shown this once. To go on and to send, have a person claim " +
        "the org: POST /v1/mail/org/claim with their e-mail address.",
    },
    201,
    NO_STORE,
  );
};

const registerMail = openRoute({
  ...REGISTERING,
  path: "/v1/mail/agents/register",
  id: "registerMail",
  note: "A receive-only trial of 24 hours; 5 per client address an hour.",
  words: registerWords,
  handle: register,
});

const registerMailTrial = openRoute({
  ...REGISTERING,
  path: "/v1/mail/agents/register-trial",
  id: "registerMailTrial",
  note: "Another name of POST /v1/mail/agents/register.",
  words(setting) {
    const { description, ...words } = registerWords(setting);
    return {
      ...words,
      description: `Another name of POST /v1/mail/agents/register.\n\n${description}`,
    };
  },
  handle: register,
});

const ORG_EXAMPLE = {
  org_id: "org_01KAQ4M9Z3T8X0V2B7N5C1D6EF",
  trial: true,
  verified_email: null,
  expires_at: "2026-05-29T20:26:40.000Z",
  google_email: null,
  inboxes: { count: 0, limit: 1 },
  pending_claim: null,
};

const readMailOrg = keyRoute({
  method: "GET",
  path: "/v1/mail/org",
  id: "readMailOrg",
  may: "orgRead",
  summary: "Read the org",
  words: {
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
  handle: ({ limits, now }: MailCore) => ({ org }) =>
    Promise.resolve(answerJson(shownOrg(org, limits, now()), 200, NO_STORE)),
});

const deleteMailOrg = keyRoute({
  method: "DELETE",
  path: "/v1/mail/org",
  id: "deleteMailOrg",
  may: "orgWrite",
  summary: "Erase the org",
  addition: true,
  words: {
    description: "Deletes the org for good: its keys die at once, and everything that it has is " +
      "erased. Its addresses are never given out again.",
    body: {
      description: "The org's own id, so that nothing is deleted by mistake.",
      schema: z.object({ org_id: mailId("org", "Must be the org of the API key.") })
        .openapi("MailOrgDeletion"),
    },
    answers: { 204: { description: "Deleted." } },
  },
  handle: (services: MailCore & { erasures: Erasures }) => async (request) => {
    const { erasures, deps: { log } } = services;
    const { org } = request;
    const { org_id } = await request.body();
    if (org_id !== org.id) {
      throw invalidJson(
        `org_id must be the id of this key's org, ${org.id}: deleting erases everything of it`,
      );
    }
    const deleted = await deleteOrg(services, request);
    if (deleted !== null) log("mail_org_deleted", { org_id: org.id });
    erasures.begin();
    return noContent();
  },
});

const Suspension = z.object({ org_id: mailId("org", "The org."), suspended: z.boolean() })
  .openapi("MailSuspension");

const SUSPENDED = {
  answers: {
    200: { description: "How the org stands.", content: { schema: Suspension } },
  },
  errors: { not_found: "no org has this id" },
};

const suspend =
  (suspended: boolean) => (services: MailCore) => async ({ params, body }: MailRequest) => {
    const orgId = params["id"]!;
    await requireStanding(services, orgId);
    await body({});
    await setSuspended(services, orgId, suspended);
    services.deps.log(suspended ? "mail_org_suspended" : "mail_org_unsuspended", { org_id: orgId });
    return answerJson({ org_id: orgId, suspended });
  };

const suspendMailOrg = operatorRoute({
  method: "POST",
  path: "/v1/admin/mail/orgs/{id}/suspend",
  id: "suspendMailOrg",
  summary: "Suspend an org",
  addition: true,
  words: {
    description: "Suspends an org: its keys answer 403 `org_suspended`, and its mail stops both " +
      "ways. Repeating changes nothing.",
    ...SUSPENDED,
  },
  handle: suspend(true),
});

const unsuspendMailOrg = operatorRoute({
  method: "POST",
  path: "/v1/admin/mail/orgs/{id}/unsuspend",
  id: "unsuspendMailOrg",
  summary: "Lift a suspension",
  addition: true,
  words: {
    description: "Lifts the suspension of an org. Repeating changes nothing.",
    ...SUSPENDED,
  },
  handle: suspend(false),
});

export const ORG_ROUTES = [registerMail, registerMailTrial, readMailOrg, deleteMailOrg];
/** What the operator of the relay decides about orgs. */
export const SUSPENSION_ROUTES = [suspendMailOrg, unsuspendMailOrg];
