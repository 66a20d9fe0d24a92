/**
 * Every path of the mail area, said once: the routes, what they answer while mail is off and the
 * description of the API are made from this table.
 */

export interface MailPath {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  /** A name that is unique in the description of the API. */
  id: string;
  summary: string;
  /** A mail key when absent. */
  access?: "public" | "adminToken";
  /** True where the path is not in the specification. */
  addition?: boolean;
  note?: string;
}

const PERIOD = "Query `period`: 24h, 7d, 30d or 90d.";

const route = (
  method: MailPath["method"],
  path: string,
  id: string,
  summary: string,
  further: Partial<MailPath> = {},
): MailPath => ({ method, path, id, summary, ...further });

const REGISTER: Partial<MailPath> = {
  access: "public",
  note: "A receive-only trial of 24 hours; 5 per client address an hour.",
};

const ORG: readonly MailPath[] = [
  route("post", "/v1/mail/agents/register", "registerMail", "Register for mail", REGISTER),
  route("post", "/v1/mail/agents/register-trial", "registerMailTrial", "Register for mail", {
    ...REGISTER,
    note: "Another name of POST /v1/mail/agents/register.",
  }),
  route("get", "/v1/mail/org", "readMailOrg", "Read the org"),
  route("delete", "/v1/mail/org", "deleteMailOrg", "Erase the org", { addition: true }),
  route("post", "/v1/mail/org/google", "signInWithGoogle", "Sign in by identity provider", {
    access: "public",
    note: "Creates a verified org, or signs in to the one of that identity.",
  }),
  route("delete", "/v1/mail/org/google", "unlinkGoogle", "Unlink the identity", {
    addition: true,
  }),
  route("post", "/v1/mail/org/attach", "attachGoogle", "Link an identity to the org", {
    note: "Recovers an expired trial.",
  }),
  route("post", "/v1/mail/org/magic", "sendMagicLink", "Send a sign-in link", {
    access: "public",
    note: "The link works once, for an hour; 3 per e-mail an hour.",
  }),
  route("get", "/v1/mail/org/magic/confirm", "followMagicLink", "Follow a sign-in link", {
    access: "public",
    note: "Query `token`. Mints an API key once.",
  }),
  route("post", "/v1/mail/org/magic/confirm", "confirmMagicLink", "Confirm a sign-in link", {
    access: "public",
    addition: true,
  }),
  route("post", "/v1/mail/org/claim", "claimMailOrg", "Send a confirmation link", {
    note: "The link works once, for an hour; 3 per org an hour.",
  }),
  route("get", "/v1/mail/org/claim/confirm", "followClaimLink", "Follow a claim link", {
    access: "public",
    note: "Query `token`. Clears trial and expiry.",
  }),
  route("post", "/v1/mail/org/claim/confirm", "confirmClaimLink", "Confirm a claim link", {
    access: "public",
    addition: true,
  }),
];

const MAILBOXES: readonly MailPath[] = [
  route("post", "/v1/mail/inboxes", "createMailInbox", "Create an inbox"),
  route("get", "/v1/mail/inboxes", "listMailInboxes", "List inboxes"),
  route("get", "/v1/mail/inboxes/{id}", "readMailInbox", "Read an inbox", { addition: true }),
  route("patch", "/v1/mail/inboxes/{id}", "updateMailInbox", "Change an inbox", {
    addition: true,
  }),
  route("delete", "/v1/mail/inboxes/{id}", "deleteMailInbox", "Delete an inbox", {
    addition: true,
  }),
  route("post", "/v1/mail/inboxes/{id}/messages/send", "sendMail", "Send mail", {
    note: "The Idempotency-Key header is supported.",
  }),
  route("get", "/v1/mail/inboxes/{id}/messages", "listMail", "List messages"),
  route("get", "/v1/mail/messages/{id}", "readMail", "Read a message"),
  route("patch", "/v1/mail/messages/{id}", "updateMail", "Mark or label a message", {
    addition: true,
  }),
  route("delete", "/v1/mail/messages/{id}", "deleteMail", "Delete a message", {
    addition: true,
  }),
  route("get", "/v1/mail/messages/{id}/raw", "readRawMail", "Read a message's raw bytes", {
    addition: true,
  }),
  route(
    "get",
    "/v1/mail/messages/{id}/attachments/{attachment_id}",
    "readMailAttachment",
    "Read an attachment",
    { addition: true },
  ),
  route("post", "/v1/mail/messages/{id}/reply", "replyToMail", "Reply in the thread"),
  route("post", "/v1/mail/messages/{id}/forward", "forwardMail", "Forward a message", {
    addition: true,
  }),
  route("post", "/v1/mail/messages/{id}/cancel", "cancelMail", "Cancel a scheduled message", {
    addition: true,
  }),
  route("get", "/v1/mail/inboxes/{id}/threads", "listMailThreads", "List threads"),
  route("get", "/v1/mail/threads/{id}", "readMailThread", "Read a thread"),
  route("patch", "/v1/mail/threads/{id}", "updateMailThread", "Mark a thread", {
    addition: true,
  }),
  route("get", "/v1/mail/search", "searchMail", "Search mail", {
    note: "Query `q`, full text.",
  }),
  route("post", "/v1/mail/inboxes/{id}/drafts", "createMailDraft", "Create a draft", {
    note: "An agent writes, a human sends.",
  }),
  route("get", "/v1/mail/inboxes/{id}/drafts", "listMailDrafts", "List drafts"),
  route("get", "/v1/mail/drafts/{id}", "readMailDraft", "Read a draft", { addition: true }),
  route("patch", "/v1/mail/drafts/{id}", "updateMailDraft", "Change a draft", {
    addition: true,
  }),
  route("delete", "/v1/mail/drafts/{id}", "discardMailDraft", "Discard a draft", {
    addition: true,
  }),
  route("post", "/v1/mail/drafts/{id}/send", "sendMailDraft", "Send a draft", {
    note: "With a human's approval. The draft is deleted.",
  }),
];

const OPERATION: readonly MailPath[] = [
  route("get", "/v1/mail/usage", "readMailUsage", "Usage counters of the org"),
  route("get", "/v1/mail/delivery-health", "readMailHealth", "Health of delivery", {
    note: PERIOD,
  }),
  route("get", "/v1/mail/activity", "readMailActivity", "Activity over time", {
    note: PERIOD,
  }),
  route("post", "/v1/mail/api-keys", "createMailKey", "Create an API key", {
    note: "With an org-scoped key. The full key is shown once.",
  }),
  route("get", "/v1/mail/api-keys", "listMailKeys", "List API keys"),
  route("get", "/v1/mail/api-keys/{id}", "readMailKey", "Read an API key", { addition: true }),
  route("delete", "/v1/mail/api-keys/{id}", "deleteMailKey", "Delete an API key"),
  route("post", "/v1/mail/webhooks", "createWebhook", "Create a webhook", {
    note: "Its signing secret, `rmwh_`, is shown once.",
  }),
  route("get", "/v1/mail/webhooks", "listWebhooks", "List webhooks"),
  route("get", "/v1/mail/webhooks/{id}", "readWebhook", "Read a webhook", { addition: true }),
  route("patch", "/v1/mail/webhooks/{id}", "updateWebhook", "Change a webhook", {
    addition: true,
  }),
  route("delete", "/v1/mail/webhooks/{id}", "deleteWebhook", "Delete a webhook"),
  route("post", "/v1/mail/webhooks/{id}/rotate", "rotateWebhookSecret", "Rotate the secret", {
    addition: true,
  }),
  route("post", "/v1/mail/webhooks/{id}/test", "testWebhook", "Send a test event", {
    addition: true,
  }),
  route(
    "get",
    "/v1/mail/webhooks/{id}/deliveries",
    "listWebhookDeliveries",
    "List deliveries",
    {
      addition: true,
    },
  ),
  route(
    "post",
    "/v1/mail/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    "redeliverWebhook",
    "Deliver an event again",
    { addition: true },
  ),
  route("get", "/v1/mail/suppressions", "listSuppressions", "List suppressed addresses", {
    addition: true,
  }),
  route("delete", "/v1/mail/suppressions/{address}", "liftSuppression", "Lift a suppression", {
    addition: true,
  }),
  route("post", "/v1/mail/inbound/raw", "receiveMail", "Hand in a received message", {
    access: "public",
    addition: true,
    note: "Signed by the operator's gateway.",
  }),
  route("post", "/v1/mail/events", "receiveMailEvents", "Hand in delivery events", {
    access: "public",
    addition: true,
    note: "Signed by the operator's gateway.",
  }),
];

/** Routes outside /v1/mail. */
const BESIDE: readonly MailPath[] = [
  route("post", "/v1/admin/mail/orgs/{id}/suspend", "suspendMailOrg", "Suspend an org", {
    access: "adminToken",
    addition: true,
  }),
  route(
    "post",
    "/v1/admin/mail/orgs/{id}/unsuspend",
    "unsuspendMailOrg",
    "Lift a suspension",
    {
      access: "adminToken",
      addition: true,
    },
  ),
  route("get", "/mail/drafts/{id}", "readDraftPage", "The page on which a person approves", {
    access: "public",
    addition: true,
  }),
  route("post", "/mail/drafts/{id}", "decideOnDraft", "Approve or reject a draft", {
    access: "public",
    addition: true,
  }),
  route("post", "/mcp/mail", "callMailTools", "Tool server of the mail area", {
    note:
      "Tools: create_inbox, check_inbox, read_thread, send_email, reply_to_message, search_mail.",
  }),
];

export const MAIL_PATHS: readonly MailPath[] = [...ORG, ...MAILBOXES, ...OPERATION, ...BESIDE];
