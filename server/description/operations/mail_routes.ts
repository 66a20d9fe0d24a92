/** Every path of the mail area: what it is for, and what a request holds where that is fixed. */
import type { z } from "@hono/zod-openapi";
import type { Credential, Operation } from "../operation.ts";
import * as mail from "../schemas/mail.ts";

export interface MailRoute {
  method: Operation["method"];
  path: string;
  id: string;
  summary: string;
  /** "key" when absent. */
  access?: "public" | Credential;
  /** True where the route is not in the specification. */
  addition?: boolean;
  body?: z.ZodType;
  /** The answer where mail is on, as far as the specification fixes it. */
  status: number;
  answer?: z.ZodType;
  note?: string;
}

const PERIOD = "Query `period`: 24h, 7d, 30d or 90d.";

const route = (
  method: MailRoute["method"],
  path: string,
  id: string,
  status: number,
  summary: string,
  further: Partial<MailRoute> = {},
): MailRoute => ({ method, path, id, status, summary, ...further });

const REGISTER: Partial<MailRoute> = {
  access: "public",
  body: mail.MailRegistration,
  answer: mail.MailRegistered,
  note: "A receive-only trial of 24 hours; 5 per client address an hour.",
};

const ORG: readonly MailRoute[] = [
  route("post", "/v1/mail/agents/register", "registerMail", 201, "Register for mail", REGISTER),
  route("post", "/v1/mail/agents/register-trial", "registerMailTrial", 201, "Register for mail", {
    ...REGISTER,
    note: "Another name of POST /v1/mail/agents/register.",
  }),
  route("get", "/v1/mail/org", "readMailOrg", 200, "Read the org", { answer: mail.MailOrg }),
  route("delete", "/v1/mail/org", "deleteMailOrg", 204, "Erase the org", { addition: true }),
  route("post", "/v1/mail/org/google", "signInWithGoogle", 200, "Sign in by identity provider", {
    access: "public",
    body: mail.GoogleToken,
    answer: mail.GoogleSignedIn,
    note: "Creates a verified org, or signs in to the one of that identity.",
  }),
  route("post", "/v1/mail/org/attach", "attachGoogle", 200, "Link an identity to the org", {
    body: mail.GoogleToken,
    note: "Recovers an expired trial.",
  }),
  route("post", "/v1/mail/org/magic", "sendMagicLink", 202, "Send a sign-in link", {
    access: "public",
    body: mail.MailAddress,
    note: "The link works once, for an hour; 3 per e-mail an hour.",
  }),
  route("get", "/v1/mail/org/magic/confirm", "followMagicLink", 200, "Follow a sign-in link", {
    access: "public",
    note: "Query `token`. Mints an API key once.",
  }),
  route("post", "/v1/mail/org/magic/confirm", "confirmMagicLink", 200, "Confirm a sign-in link", {
    access: "public",
    addition: true,
  }),
  route("post", "/v1/mail/org/claim", "claimMailOrg", 202, "Send a confirmation link", {
    body: mail.MailAddress,
    note: "The link works once, for an hour; 3 per org an hour.",
  }),
  route("get", "/v1/mail/org/claim/confirm", "followClaimLink", 200, "Follow a claim link", {
    access: "public",
    note: "Query `token`. Clears trial and expiry.",
  }),
  route("post", "/v1/mail/org/claim/confirm", "confirmClaimLink", 200, "Confirm a claim link", {
    access: "public",
    addition: true,
  }),
];

const MAILBOXES: readonly MailRoute[] = [
  route("post", "/v1/mail/inboxes", "createMailInbox", 201, "Create an inbox"),
  route("get", "/v1/mail/inboxes", "listMailInboxes", 200, "List inboxes"),
  route("get", "/v1/mail/inboxes/{id}", "readMailInbox", 200, "Read an inbox", { addition: true }),
  route("patch", "/v1/mail/inboxes/{id}", "updateMailInbox", 200, "Change an inbox", {
    addition: true,
  }),
  route("delete", "/v1/mail/inboxes/{id}", "deleteMailInbox", 204, "Delete an inbox", {
    addition: true,
  }),
  route("post", "/v1/mail/inboxes/{id}/messages/send", "sendMail", 202, "Send mail", {
    note: "The Idempotency-Key header is supported.",
  }),
  route("get", "/v1/mail/inboxes/{id}/messages", "listMail", 200, "List messages"),
  route("get", "/v1/mail/messages/{id}", "readMail", 200, "Read a message"),
  route("patch", "/v1/mail/messages/{id}", "updateMail", 200, "Mark or label a message", {
    addition: true,
  }),
  route("delete", "/v1/mail/messages/{id}", "deleteMail", 204, "Delete a message", {
    addition: true,
  }),
  route("get", "/v1/mail/messages/{id}/raw", "readRawMail", 200, "Read a message's raw bytes", {
    addition: true,
  }),
  route(
    "get",
    "/v1/mail/messages/{id}/attachments/{attachment_id}",
    "readMailAttachment",
    200,
    "Read an attachment",
    { addition: true },
  ),
  route("post", "/v1/mail/messages/{id}/reply", "replyToMail", 202, "Reply in the thread"),
  route("get", "/v1/mail/inboxes/{id}/threads", "listMailThreads", 200, "List threads"),
  route("get", "/v1/mail/threads/{id}", "readMailThread", 200, "Read a thread"),
  route("patch", "/v1/mail/threads/{id}", "updateMailThread", 200, "Mark a thread", {
    addition: true,
  }),
  route("get", "/v1/mail/search", "searchMail", 200, "Search mail", {
    note: "Query `q`, full text.",
  }),
  route("post", "/v1/mail/inboxes/{id}/drafts", "createMailDraft", 201, "Create a draft", {
    note: "An agent writes, a human sends.",
  }),
  route("get", "/v1/mail/inboxes/{id}/drafts", "listMailDrafts", 200, "List drafts"),
  route("get", "/v1/mail/drafts/{id}", "readMailDraft", 200, "Read a draft", { addition: true }),
  route("patch", "/v1/mail/drafts/{id}", "updateMailDraft", 200, "Change a draft", {
    addition: true,
  }),
  route("delete", "/v1/mail/drafts/{id}", "discardMailDraft", 204, "Discard a draft", {
    addition: true,
  }),
  route("post", "/v1/mail/drafts/{id}/send", "sendMailDraft", 202, "Send a draft", {
    note: "With a human's approval. The draft is deleted.",
  }),
];

const OPERATION: readonly MailRoute[] = [
  route("get", "/v1/mail/usage", "readMailUsage", 200, "Usage counters of the org"),
  route("get", "/v1/mail/delivery-health", "readMailHealth", 200, "Health of delivery", {
    note: PERIOD,
  }),
  route("get", "/v1/mail/activity", "readMailActivity", 200, "Activity over time", {
    note: PERIOD,
  }),
  route("post", "/v1/mail/api-keys", "createMailKey", 201, "Create an API key", {
    note: "With an org-scoped key. The full key is shown once.",
  }),
  route("get", "/v1/mail/api-keys", "listMailKeys", 200, "List API keys"),
  route("get", "/v1/mail/api-keys/{id}", "readMailKey", 200, "Read an API key", { addition: true }),
  route("delete", "/v1/mail/api-keys/{id}", "deleteMailKey", 204, "Delete an API key"),
  route("post", "/v1/mail/webhooks", "createWebhook", 201, "Create a webhook", {
    note: "Its signing secret, `rmwh_`, is shown once.",
  }),
  route("get", "/v1/mail/webhooks", "listWebhooks", 200, "List webhooks"),
  route("get", "/v1/mail/webhooks/{id}", "readWebhook", 200, "Read a webhook", { addition: true }),
  route("patch", "/v1/mail/webhooks/{id}", "updateWebhook", 200, "Change a webhook", {
    addition: true,
  }),
  route("delete", "/v1/mail/webhooks/{id}", "deleteWebhook", 204, "Delete a webhook"),
  route("post", "/v1/mail/webhooks/{id}/rotate", "rotateWebhookSecret", 200, "Rotate the secret", {
    addition: true,
  }),
  route("post", "/v1/mail/webhooks/{id}/test", "testWebhook", 202, "Send a test event", {
    addition: true,
  }),
  route(
    "get",
    "/v1/mail/webhooks/{id}/deliveries",
    "listWebhookDeliveries",
    200,
    "List deliveries",
    {
      addition: true,
    },
  ),
  route(
    "post",
    "/v1/mail/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    "redeliverWebhook",
    202,
    "Deliver an event again",
    { addition: true },
  ),
  route("get", "/v1/mail/suppressions", "listSuppressions", 200, "List suppressed addresses", {
    addition: true,
  }),
  route("delete", "/v1/mail/suppressions/{address}", "liftSuppression", 204, "Lift a suppression", {
    addition: true,
  }),
  route("post", "/v1/mail/inbound/raw", "receiveMail", 200, "Hand in a received message", {
    access: "public",
    addition: true,
    note: "Signed by the operator's gateway.",
  }),
  route("post", "/v1/mail/events", "receiveMailEvents", 200, "Hand in delivery events", {
    access: "public",
    addition: true,
    note: "Signed by the operator's gateway.",
  }),
];

/** Routes outside /v1/mail. */
const BESIDE: readonly MailRoute[] = [
  route("post", "/v1/admin/mail/orgs/{id}/suspend", "suspendMailOrg", 200, "Suspend an org", {
    access: "adminToken",
    addition: true,
  }),
  route(
    "post",
    "/v1/admin/mail/orgs/{id}/unsuspend",
    "unsuspendMailOrg",
    200,
    "Lift a suspension",
    {
      access: "adminToken",
      addition: true,
    },
  ),
  route("get", "/mail/drafts/{id}", "readDraftPage", 200, "The page on which a person approves", {
    access: "public",
    addition: true,
  }),
  route("post", "/mail/drafts/{id}", "decideOnDraft", 200, "Approve or reject a draft", {
    access: "public",
    addition: true,
  }),
  route("post", "/mcp/mail", "callMailTools", 200, "Tool server of the mail area", {
    note:
      "Tools: create_inbox, check_inbox, read_thread, send_email, reply_to_message, search_mail.",
  }),
];

export const MAIL_ROUTES: readonly MailRoute[] = [...ORG, ...MAILBOXES, ...OPERATION, ...BESIDE];
