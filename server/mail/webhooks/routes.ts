// Over 300 lines: ten declarations with their words, which stand as they are answered.
/** Routes of webhooks: /v1/mail/webhooks (docs/mail.md, "Webhooks"). */
import { z } from "@hono/zod-openapi";
import { time } from "../../base/description/schemas/values.ts";
import { RelayError } from "../../base/errors.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { noContent } from "../../base/http/answers/no_content.ts";
import { mayRead } from "../access/access.ts";
import { type KeyedRequest, keyRoute } from "../access/mail_route.ts";
import { mailId, pageOf, PageQuery, unkept } from "../access/schemas.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { EVENT_TYPES } from "../records/event_record.ts";
import {
  KEPT_ATTEMPTS,
  markedWebhook,
  shownDelivery,
  shownWebhook,
  type WebhookRecord,
} from "../records/webhook_record.ts";
import { MOST_SINGLE, SINGLES_AN_HOUR } from "./stage_webhook.ts";
import {
  MOST_INBOXES,
  readWebhookChanges,
  readWebhookRequest,
  type RequireUrl,
} from "./webhook_request.ts";
import type { Webhooks } from "./webhooks.ts";

export interface WebhookRouteServices extends MailCore {
  webhooks: Webhooks;
  requireUrl: RequireUrl;
  /** Why nothing is delivered here; null where it is. */
  off: string | null;
}

const EventName = z.enum(EVENT_TYPES).openapi("MailEventType");
const DeliveryErrorName = z.enum([
  "blocked_address",
  "dns",
  "tls",
  "connect",
  "timeout",
  "redirect",
]).nullable();
const status = z.int().nullable().openapi({
  description: "HTTP status of the answer; null where there was none.",
});

const FIELDS = {
  id: mailId("wh", "The webhook."),
  url: z.string(),
  events: z.array(EventName),
  inbox_ids: z.array(mailId("ibx", "An inbox.")).openapi({ description: "Empty: all inboxes." }),
  status: z.enum(["active", "disabled"]),
  disabled_reason: z.enum(["gone", "failing"]).nullable().openapi({
    description: "`gone`: it answered 410. `failing`: no delivery succeeded for 5 days, or too " +
      "many wait.",
  }),
  consecutive_failures: z.int().min(0),
  last_success_at: time("The last delivery that was answered 2xx.").nullable(),
  last_failure: z.object({
    at: time("When it was attempted."),
    status,
    error: DeliveryErrorName,
  }).nullable(),
  created_at: time("When it was made."),
};
const Webhook = z.object(FIELDS).openapi("MailWebhook");

/** What a key without inbox:read is answered of a webhook that is there. */
const { url: _, ...marks } = FIELDS;
const WebhookMarks = z.object(marks).strict().openapi("MailWebhookMarks");

const secret = z.string().regex(/^rmwh_[A-Za-z0-9+/]{43}=$/).openapi({
  description: "Shown this once. What follows `rmwh_` is the key for Standard Webhooks, base64.",
});
const NewWebhook = z.object({ ...FIELDS, secret }).openapi("MailNewWebhook");
const RotatedWebhook = z.union([
  NewWebhook,
  z.object({ ...marks, secret }).strict().openapi("MailRotatedWebhook"),
]);

const Delivery = z.object({
  id: mailId("dlv", "The attempt."),
  event_id: mailId("evt", "What was delivered; the `webhook-id` of the request."),
  type: EventName,
  attempt: z.int().min(1).openapi({ description: "From 1; a redelivery counts anew." }),
  at: time("When it began."),
  duration_ms: z.int().min(0),
  status,
  error: DeliveryErrorName.openapi({
    description: "Why there was no answer, or none that counts; null where the status says it.",
  }),
  response: z.string().openapi({
    description: "The first 1 KiB of the answer; empty once its event is erased.",
  }),
  next_attempt_at: time("When it is delivered again; null for not.").nullable(),
}).openapi("MailWebhookDelivery");

const url = z.string().max(2_048).openapi({
  description: "https, any port, a public host. At each attempt its addresses are looked up anew.",
});
const events = z.array(z.enum(EVENT_TYPES)).min(1);
const inboxIds = z.array(z.string()).max(MOST_INBOXES);

const WebhookRequest = z.object({
  url,
  events: events.nullable().optional().openapi({ description: "All when absent." }),
  inbox_ids: inboxIds.nullable().optional().openapi({
    description: "Ids or addresses of inboxes; all when absent or empty.",
  }),
  client_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/).nullable().optional().openapi({
    description: "Makes a retry safe: the same again finds the webhook that was made.",
  }),
}).openapi("MailWebhookRequest");

const WebhookChanges = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  inbox_ids: inboxIds.optional().openapi({ description: "Empty: all inboxes." }),
  status: z.literal("active").optional().openapi({
    description: "Enables it again, and forgets its failures.",
  }),
}).openapi("MailWebhookChanges");

const Queued = z.object({ event_id: mailId("evt", "What is delivered.") })
  .openapi("MailQueuedEvent");

const NO_WEBHOOK = "the org has no such webhook";
const NO_BODY = { description: "Nothing is read of it; an empty body counts as {}." };
const MANY_WAIT = `${MOST_SINGLE} tests and redeliveries of the webhook wait already, or the org ` +
  `has had ${SINGLES_AN_HOUR} within an hour`;

const createWebhook = keyRoute({
  method: "POST",
  path: "/v1/mail/webhooks",
  id: "createWebhook",
  may: "orgWrite",
  summary: "Create a webhook",
  note: "Its signing secret, `rmwh_`, is shown once.",
  words: ({ limits }) => ({
    description: "Makes a webhook: events of the org's mail are posted to its URL, signed as " +
      "[Standard Webhooks](https://www.standardwebhooks.com/) says. Its signing secret is " +
      `**shown once**. At most ${limits.mailWebhooksPerOrg} an org.`,
    body: {
      description: "null counts as absent, unknown fields are ignored.",
      schema: WebhookRequest,
    },
    answers: {
      200: unkept(
        "The webhook that was made under this client_id, without its secret.",
        z.union([Webhook, WebhookMarks]),
      ),
      201: unkept("The webhook.", NewWebhook),
    },
    errors: {
      not_found: "the org has no inbox with an id or address of `inbox_ids`",
      webhook_limit_reached: null,
      mail_disabled: "webhooks are off on this relay",
    },
  }),
  handle: (services: WebhookRouteServices) => async (request) => {
    const { webhooks, requireUrl, freeDisk, off } = services;
    if (off !== null) {
      throw new RelayError(
        "mail_disabled",
        "webhooks are off on this relay; its operator can tell when they are on",
      );
    }
    const asked = readWebhookRequest(await request.body(), requireUrl);
    await freeDisk.refuseWhenFull();
    const { webhook, secret } = await webhooks.create(request, asked);
    if (secret === null) return give(request, webhook);
    return answerJson({ ...shownWebhook(webhook), secret }, 201, NO_STORE);
  },
});

const listWebhooks = keyRoute({
  method: "GET",
  path: "/v1/mail/webhooks",
  id: "listWebhooks",
  may: "orgRead",
  summary: "List webhooks",
  words: {
    description: "The org's webhooks, the oldest first, never their secrets.",
    query: PageQuery,
    answers: { 200: unkept("A page of webhooks.", pageOf(Webhook)) },
  },
  handle: ({ webhooks, pages }: WebhookRouteServices) => async ({ c, org }) => {
    const page = await pages.read(c, { org: org.id });
    const afterId = page.after === null ? "" : page.after[0] as string;
    const { webhooks: some, lastId } = await webhooks.list(org.id, afterId, page.limit);
    return page.answer(some.map(shownWebhook), lastId === null ? null : [lastId]);
  },
});

const readWebhook = keyRoute({
  method: "GET",
  path: "/v1/mail/webhooks/{id}",
  id: "readWebhook",
  may: "orgRead",
  summary: "Read a webhook",
  addition: true,
  words: {
    description: "One webhook, without its secret.",
    answers: { 200: unkept("The webhook.", Webhook) },
    errors: { not_found: NO_WEBHOOK },
  },
  handle: ({ webhooks }: WebhookRouteServices) => async (request) =>
    give(request, await webhooks.find(request, request.params["id"]!)),
});

const updateWebhook = keyRoute({
  method: "PATCH",
  path: "/v1/mail/webhooks/{id}",
  id: "updateWebhook",
  may: "orgWrite",
  summary: "Change a webhook",
  addition: true,
  words: {
    description: "Replaces what is named and leaves the rest. What waits goes to the new URL. " +
      "`status` `active` enables a disabled webhook; what happened meanwhile is not made up for. " +
      "A key without `inbox:read` is answered without the URL.",
    body: { description: "Unknown fields are refused.", schema: WebhookChanges },
    answers: { 200: unkept("The webhook as it is now.", z.union([Webhook, WebhookMarks])) },
    errors: {
      not_found: `${NO_WEBHOOK}, or no inbox with an id or address of \`inbox_ids\``,
    },
  },
  handle: ({ webhooks, requireUrl, freeDisk }: WebhookRouteServices) => async (request) => {
    const { id } = await webhooks.find(request, request.params["id"]!);
    const changes = readWebhookChanges(await request.body(), requireUrl);
    await freeDisk.refuseWhenFull();
    return give(request, await webhooks.change(request, id, changes));
  },
});

const deleteWebhook = keyRoute({
  method: "DELETE",
  path: "/v1/mail/webhooks/{id}",
  id: "deleteWebhook",
  may: "orgWrite",
  summary: "Delete a webhook",
  words: {
    description: "Deletes a webhook with its log. What waits for it is not delivered.",
    answers: { 204: { description: "Deleted." } },
    errors: { not_found: NO_WEBHOOK },
  },
  handle: ({ webhooks }: WebhookRouteServices) => async (request) => {
    const { id } = await webhooks.find(request, request.params["id"]!);
    await webhooks.delete(request, id);
    return noContent();
  },
});

const rotateWebhookSecret = keyRoute({
  method: "POST",
  path: "/v1/mail/webhooks/{id}/rotate",
  id: "rotateWebhookSecret",
  may: "orgWrite",
  summary: "Rotate the secret",
  addition: true,
  words: {
    description: "Makes another signing secret, **shown once**. For 24 hours both sign: " +
      "`webhook-signature` then has two values, the new one first.",
    body: { ...NO_BODY, schema: z.object({}), optional: true },
    answers: { 200: unkept("The webhook with its new secret.", RotatedWebhook) },
    errors: { not_found: NO_WEBHOOK },
  },
  handle: ({ webhooks, freeDisk }: WebhookRouteServices) => async (request) => {
    const { id } = await webhooks.find(request, request.params["id"]!);
    await request.body({});
    await freeDisk.refuseWhenFull();
    const { webhook, secret } = await webhooks.rotate(request, id);
    return answerJson({ ...shownTo(request, webhook), secret }, 200, NO_STORE);
  },
});

const testWebhook = keyRoute({
  method: "POST",
  path: "/v1/mail/webhooks/{id}/test",
  id: "testWebhook",
  may: "orgWrite",
  summary: "Send a test event",
  addition: true,
  words: {
    description: "Posts `webhook.test` to the webhook, once, whatever it hears, and a disabled " +
      `one too. The list of deliveries says what came of it. At most ${MOST_SINGLE} tests and ` +
      `redeliveries of a webhook wait at one time, and ${SINGLES_AN_HOUR} of an org begin within an hour.`,
    body: { ...NO_BODY, schema: z.object({}), optional: true },
    answers: { 202: unkept("It is on its way.", Queued) },
    errors: { not_found: NO_WEBHOOK, rate_limited: MANY_WAIT },
  },
  handle: ({ webhooks, freeDisk }: WebhookRouteServices) => async (request) => {
    const { id } = await webhooks.find(request, request.params["id"]!);
    await request.body({});
    await freeDisk.refuseWhenFull();
    return answerJson({ event_id: await webhooks.test(request, id) }, 202, NO_STORE);
  },
});

const listWebhookDeliveries = keyRoute({
  method: "GET",
  path: "/v1/mail/webhooks/{id}/deliveries",
  id: "listWebhookDeliveries",
  may: "orgRead",
  summary: "List deliveries",
  addition: true,
  words: {
    description: `The last ${KEPT_ATTEMPTS} attempts, the newest first.`,
    query: PageQuery,
    answers: { 200: unkept("A page of attempts.", pageOf(Delivery)) },
    errors: { not_found: NO_WEBHOOK },
  },
  handle: ({ webhooks, pages, answers }: WebhookRouteServices) => async (request) => {
    const { c, org, params } = request;
    const webhook = await webhooks.find(request, params["id"]!);
    const page = await pages.read(c, { org: org.id, webhook: webhook.id });
    const before = page.after === null ? null : page.after[0] as number;
    const { rows, last } = await webhooks.deliveries(webhook, before, page.limit);
    const json = rows.map((row) => JSON.stringify(shownDelivery(row)));
    const sizeBytes = json.reduce((sum, one) => sum + one.length, 0);
    if (sizeBytes > LARGE_ANSWER_BYTES) c.set("reservation", answers.reserve(sizeBytes, "agent"));
    return page.answerJson(json, last === null ? null : [last]);
  },
});

const redeliverWebhook = keyRoute({
  method: "POST",
  path: "/v1/mail/webhooks/{id}/deliveries/{delivery_id}/redeliver",
  id: "redeliverWebhook",
  may: "orgWrite",
  summary: "Deliver an event again",
  addition: true,
  words: {
    description: "Posts the same bytes once more, outside the schedule, to a disabled webhook " +
      `too, which stays disabled. At most ${MOST_SINGLE} tests and redeliveries of a webhook ` +
      `wait at one time, and ${SINGLES_AN_HOUR} of an org begin within an hour.`,
    body: { ...NO_BODY, schema: z.object({}), optional: true },
    answers: { 202: unkept("It is on its way.", Queued) },
    errors: {
      not_found: `${NO_WEBHOOK}, its log has no such attempt, or the event is erased`,
      rate_limited: MANY_WAIT,
    },
  },
  handle: ({ webhooks, freeDisk }: WebhookRouteServices) => async (request) => {
    const { params } = request;
    const { id } = await webhooks.find(request, params["id"]!);
    const delivery = await webhooks.findDelivery(request, id, params["delivery_id"]!);
    await request.body({});
    await freeDisk.refuseWhenFull();
    return answerJson(
      { event_id: await webhooks.redeliver(request, id, delivery) },
      202,
      NO_STORE,
    );
  },
});

export const WEBHOOK_ROUTES = [
  createWebhook,
  listWebhooks,
  readWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  redeliverWebhook,
];

const shownTo = ({ key }: Pick<KeyedRequest, "key">, webhook: WebhookRecord) =>
  mayRead(key) ? shownWebhook(webhook) : markedWebhook(webhook);

/** A webhook that others may have made and changed. */
function give(request: KeyedRequest, webhook: WebhookRecord): Response {
  return answerJson(shownTo(request, webhook), 200, NO_STORE);
}
