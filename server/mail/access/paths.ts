// Over 300 lines: one table, which is read from top to bottom.
/**
 * BRIDGE, to be deleted with former_routes.ts: routes that are not declared in one place yet. Their
 * handlers stand in tables by id, their words in the operations.ts of their parts.
 */
import type { Operation } from "../../base/description/operation.ts";
import type { KeyAccess, MailAccess } from "./access.ts";
import type { KeyedRequest, MailRequest } from "./mail_route.ts";

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

export const ORG = [
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
] as const;

export const GOOGLE = [
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
] as const;

export const SIGN_IN = [
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

export const MESSAGES = [
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
] as const;

export const THREADS = [
  route("get", "/v1/mail/inboxes/{id}/threads", "listMailThreads", "read", "List threads"),
  route("get", "/v1/mail/threads/{id}", "readMailThread", "read", "Read a thread"),
  route("patch", "/v1/mail/threads/{id}", "updateMailThread", "write", "Mark a thread", {
    addition: true,
  }),
] as const;

export const SEARCH = [
  route("get", "/v1/mail/search", "searchMail", "read", "Search mail", {
    note: "Query `q`, full text.",
  }),
] as const;

export const FIGURES = [
  route("get", "/v1/mail/usage", "readMailUsage", "orgRead", "Usage counters of the org"),
  route("get", "/v1/mail/delivery-health", "readMailHealth", "orgRead", "Health of delivery", {
    note: PERIOD,
  }),
  route("get", "/v1/mail/activity", "readMailActivity", "orgRead", "Activity over time", {
    note: PERIOD,
  }),
] as const;

export const RECEIVING = [
  route("post", "/v1/mail/inbound/raw", "receiveMail", "gateway", "Hand in a received message", {
    addition: true,
    bodyLimit: "mailInboundBytes",
    note: "Signed by the operator's gateway.",
  }),
] as const;

export const EVENTS = [
  route("post", "/v1/mail/events", "receiveMailEvents", "gateway", "Hand in delivery events", {
    addition: true,
    bodyLimit: "mailEventsBytes",
    note: "Signed by the operator's gateway.",
  }),
] as const;

export const SUSPENSION = [
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
] as const;

export const TOOLS = [
  route("post", "/mcp/mail", "callMailTools", "tools", "Tool server of the mail area", {
    note:
      "Tools: create_inbox, check_inbox, read_thread, send_email, reply_to_message, search_mail.",
  }),
] as const;

const ROWS = [
  ...ORG,
  ...GOOGLE,
  ...SIGN_IN,
  ...MESSAGES,
  ...THREADS,
  ...SEARCH,
  ...FIGURES,
  ...RECEIVING,
  ...EVENTS,
  ...SUSPENSION,
  ...TOOLS,
] as const;

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

/** Handlers by the ids of their routes: of those with a mail key, and of all others. */
export type MailHandlers = Readonly<
  & { [Id in MailPathId<"keyed">]?: (request: KeyedRequest) => Promise<Response> }
  & { [Id in MailPathId<"other">]?: (request: MailRequest) => Promise<Response> }
>;

/** A described route: what paths.ts does not say of it already. */
export type Described = Pick<
  Operation,
  "accessOptional" | "description" | "query" | "headers" | "body" | "answers" | "errors" | "never"
>;

export type DescribedRoutes = Partial<Record<MailPathId, Described>>;
