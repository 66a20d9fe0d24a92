// Over 300 lines: one table, which is read from top to bottom.
/**
 * Every path of the mail area, said once: the routes, who may call them, what they answer while mail
 * is off and the description of the API are made from this table.
 */
import type { KeyAccess, MailAccess } from "./access.ts";

const PERIOD = "Query `period`: 24h, 7d, 30d or 90d.";
const REGISTER = "A receive-only trial of 24 hours; 5 per client address an hour.";

interface Further {
  /** True where the path is not in the specification. */
  addition?: boolean;
  /** True where the key of an expired trial still opens the route. */
  expiredTrial?: boolean;
  /** The limit of the body; 256 KiB when absent. */
  bodyLimit?: "mailInboundBytes" | "mailRequestBytes" | "mailEventsBytes";
  /** True where browsers get pages, which scripts of other origins may not read. */
  pages?: boolean;
  note?: string;
}

interface Row<Id extends string, Access extends MailAccess> extends Further {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  /** A name that is unique in the description of the API. */
  id: Id;
  /** Who may call it; access.ts says what the words mean. */
  access: Access;
  summary: string;
}

function route<Id extends string, Access extends MailAccess>(
  method: Row<Id, Access>["method"],
  path: string,
  id: Id,
  access: Access,
  summary: string,
  further: Further = {},
): Row<Id, Access> {
  return { method, path, id, access, summary, ...further };
}

/** The org, and the ways into it. */
const ORG = [
  route("post", "/v1/mail/agents/register", "registerMail", "public", "Register for mail", {
    note: REGISTER,
  }),
  route(
    "post",
    "/v1/mail/agents/register-trial",
    "registerMailTrial",
    "public",
    "Register for mail",
    { note: "Another name of POST /v1/mail/agents/register." },
  ),
  route("get", "/v1/mail/org", "readMailOrg", "orgRead", "Read the org"),
  route("delete", "/v1/mail/org", "deleteMailOrg", "orgWrite", "Erase the org", { addition: true }),
  route(
    "post",
    "/v1/mail/org/google",
    "signInWithGoogle",
    "public",
    "Sign in by identity provider",
    { note: "Creates a verified org, or signs in to the one of that identity." },
  ),
  route("delete", "/v1/mail/org/google", "unlinkGoogle", "orgWrite", "Unlink the identity", {
    addition: true,
  }),
  route("post", "/v1/mail/org/attach", "attachGoogle", "orgWrite", "Link an identity to the org", {
    note: "Recovers an expired trial.",
    expiredTrial: true,
  }),
  route("post", "/v1/mail/org/magic", "sendMagicLink", "public", "Send a sign-in link", {
    note: "The link works once, for an hour; 3 per e-mail an hour.",
  }),
  route("get", "/v1/mail/org/magic/confirm", "followMagicLink", "public", "Follow a sign-in link", {
    note: "Query `token`. Mints an API key once.",
    pages: true,
  }),
  route(
    "post",
    "/v1/mail/org/magic/confirm",
    "confirmMagicLink",
    "public",
    "Confirm a sign-in link",
    { addition: true, pages: true },
  ),
  route("post", "/v1/mail/org/claim", "claimMailOrg", "orgWrite", "Send a confirmation link", {
    note: "The link works once, for an hour; 3 per org an hour.",
  }),
  route("get", "/v1/mail/org/claim/confirm", "followClaimLink", "public", "Follow a claim link", {
    note: "Query `token`. Clears trial and expiry.",
    pages: true,
  }),
  route(
    "post",
    "/v1/mail/org/claim/confirm",
    "confirmClaimLink",
    "public",
    "Confirm a claim link",
    { addition: true, pages: true },
  ),
] as const;

/** Inboxes, and what is in them. */
const MAILBOXES = [
  route("post", "/v1/mail/inboxes", "createMailInbox", "orgWrite", "Create an inbox"),
  route("get", "/v1/mail/inboxes", "listMailInboxes", "read", "List inboxes"),
  route("get", "/v1/mail/inboxes/{id}", "readMailInbox", "read", "Read an inbox", {
    addition: true,
  }),
  route("patch", "/v1/mail/inboxes/{id}", "updateMailInbox", "orgWrite", "Change an inbox", {
    addition: true,
  }),
  route("delete", "/v1/mail/inboxes/{id}", "deleteMailInbox", "orgWrite", "Delete an inbox", {
    addition: true,
  }),
  route("post", "/v1/mail/inboxes/{id}/messages/send", "sendMail", "write", "Send mail", {
    note: "The Idempotency-Key header is supported.",
    bodyLimit: "mailRequestBytes",
  }),
  route("get", "/v1/mail/inboxes/{id}/messages", "listMail", "read", "List messages"),
  route("get", "/v1/mail/messages/{id}", "readMail", "read", "Read a message"),
  route("patch", "/v1/mail/messages/{id}", "updateMail", "write", "Mark or label a message", {
    addition: true,
  }),
  route("delete", "/v1/mail/messages/{id}", "deleteMail", "orgWrite", "Delete a message", {
    addition: true,
  }),
  route("get", "/v1/mail/messages/{id}/raw", "readRawMail", "read", "Read a message's raw bytes", {
    addition: true,
  }),
  route(
    "get",
    "/v1/mail/messages/{id}/attachments/{attachment_id}",
    "readMailAttachment",
    "read",
    "Read an attachment",
    { addition: true },
  ),
  route("post", "/v1/mail/messages/{id}/reply", "replyToMail", "write", "Reply in the thread", {
    bodyLimit: "mailRequestBytes",
  }),
  route("post", "/v1/mail/messages/{id}/forward", "forwardMail", "readWrite", "Forward a message", {
    addition: true,
  }),
  route(
    "post",
    "/v1/mail/messages/{id}/cancel",
    "cancelMail",
    "write",
    "Cancel a scheduled message",
    { addition: true },
  ),
  route("get", "/v1/mail/inboxes/{id}/threads", "listMailThreads", "read", "List threads"),
  route("get", "/v1/mail/threads/{id}", "readMailThread", "read", "Read a thread"),
  route("patch", "/v1/mail/threads/{id}", "updateMailThread", "write", "Mark a thread", {
    addition: true,
  }),
  route("get", "/v1/mail/search", "searchMail", "read", "Search mail", {
    note: "Query `q`, full text.",
  }),
  route("post", "/v1/mail/inboxes/{id}/drafts", "createMailDraft", "write", "Create a draft", {
    note: "An agent writes, a human sends.",
    bodyLimit: "mailRequestBytes",
  }),
  route("get", "/v1/mail/inboxes/{id}/drafts", "listMailDrafts", "read", "List drafts"),
  route("get", "/v1/mail/drafts/{id}", "readMailDraft", "read", "Read a draft", { addition: true }),
  route("patch", "/v1/mail/drafts/{id}", "updateMailDraft", "write", "Change a draft", {
    addition: true,
    bodyLimit: "mailRequestBytes",
  }),
  route("delete", "/v1/mail/drafts/{id}", "discardMailDraft", "write", "Discard a draft", {
    addition: true,
  }),
  route("post", "/v1/mail/drafts/{id}/send", "sendMailDraft", "write", "Send a draft", {
    note: "With a human's approval. The draft is deleted.",
  }),
] as const;

/** What an org counts and what it is told. */
const OPERATION = [
  route("get", "/v1/mail/usage", "readMailUsage", "orgRead", "Usage counters of the org"),
  route("get", "/v1/mail/delivery-health", "readMailHealth", "orgRead", "Health of delivery", {
    note: PERIOD,
  }),
  route("get", "/v1/mail/activity", "readMailActivity", "orgRead", "Activity over time", {
    note: PERIOD,
  }),
  route("post", "/v1/mail/api-keys", "createMailKey", "orgWrite", "Create an API key", {
    note: "With an org-scoped key. The full key is shown once.",
  }),
  route("get", "/v1/mail/api-keys", "listMailKeys", "orgRead", "List API keys"),
  route("get", "/v1/mail/api-keys/{id}", "readMailKey", "orgRead", "Read an API key", {
    addition: true,
  }),
  route("delete", "/v1/mail/api-keys/{id}", "deleteMailKey", "orgWrite", "Delete an API key"),
  route("post", "/v1/mail/webhooks", "createWebhook", "orgWrite", "Create a webhook", {
    note: "Its signing secret, `rmwh_`, is shown once.",
  }),
  route("get", "/v1/mail/webhooks", "listWebhooks", "orgRead", "List webhooks"),
  route("get", "/v1/mail/webhooks/{id}", "readWebhook", "orgRead", "Read a webhook", {
    addition: true,
  }),
  route("patch", "/v1/mail/webhooks/{id}", "updateWebhook", "orgWrite", "Change a webhook", {
    addition: true,
  }),
  route("delete", "/v1/mail/webhooks/{id}", "deleteWebhook", "orgWrite", "Delete a webhook"),
  route(
    "post",
    "/v1/mail/webhooks/{id}/rotate",
    "rotateWebhookSecret",
    "orgWrite",
    "Rotate the secret",
    { addition: true },
  ),
  route("post", "/v1/mail/webhooks/{id}/test", "testWebhook", "orgWrite", "Send a test event", {
    addition: true,
  }),
  route(
    "get",
    "/v1/mail/webhooks/{id}/deliveries",
    "listWebhookDeliveries",
    "orgRead",
    "List deliveries",
    { addition: true },
  ),
  route(
    "post",
    "/v1/mail/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    "redeliverWebhook",
    "orgWrite",
    "Deliver an event again",
    { addition: true },
  ),
  route(
    "get",
    "/v1/mail/suppressions",
    "listSuppressions",
    "orgRead",
    "List suppressed addresses",
    { addition: true },
  ),
  route(
    "delete",
    "/v1/mail/suppressions/{address}",
    "liftSuppression",
    "orgWrite",
    "Lift a suppression",
    { addition: true },
  ),
  route("post", "/v1/mail/inbound/raw", "receiveMail", "gateway", "Hand in a received message", {
    addition: true,
    bodyLimit: "mailInboundBytes",
    note: "Signed by the operator's gateway.",
  }),
  route("post", "/v1/mail/events", "receiveMailEvents", "gateway", "Hand in delivery events", {
    addition: true,
    bodyLimit: "mailEventsBytes",
    note: "Signed by the operator's gateway.",
  }),
] as const;

/** Routes outside /v1/mail. */
const BESIDE = [
  route(
    "post",
    "/v1/admin/mail/orgs/{id}/suspend",
    "suspendMailOrg",
    "adminToken",
    "Suspend an org",
    { addition: true },
  ),
  route(
    "post",
    "/v1/admin/mail/orgs/{id}/unsuspend",
    "unsuspendMailOrg",
    "adminToken",
    "Lift a suspension",
    { addition: true },
  ),
  route(
    "get",
    "/mail/drafts/{id}",
    "readDraftPage",
    "public",
    "The page on which a person approves",
    { addition: true },
  ),
  route(
    "get",
    "/mail/drafts/{id}/html",
    "readDraftHtml",
    "public",
    "The HTML of a draft, in its page",
    {
      addition: true,
    },
  ),
  route("post", "/mail/drafts/{id}", "decideOnDraft", "public", "Approve or reject a draft", {
    addition: true,
  }),
  route("post", "/mcp/mail", "callMailTools", "tools", "Tool server of the mail area", {
    note:
      "Tools: create_inbox, check_inbox, read_thread, send_email, reply_to_message, search_mail.",
  }),
] as const;

const ROWS = [...ORG, ...MAILBOXES, ...OPERATION, ...BESIDE] as const;

type Named = (typeof ROWS)[number];
type IdOf<R> = R extends Row<infer Id, infer Access>
  ? { id: Id; kind: Access extends KeyAccess ? "keyed" : "other" }
  : never;

/** Ids of the routes, of all or of one kind: "keyed" takes a mail key. */
export type MailPathId<Kind extends "keyed" | "other" = "keyed" | "other"> = Extract<
  IdOf<Named>,
  { kind: Kind }
>["id"];

export type MailPath = Row<MailPathId, MailAccess>;

export const MAIL_PATHS: readonly MailPath[] = ROWS;
