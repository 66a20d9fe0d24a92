// Over 300 lines: one table, which is read from top to bottom.
/**
 * BRIDGE, to be deleted with former_routes.ts: routes that are not declared in one place yet. Their
 * handlers stand in tables by id, their words in the operations.ts of their parts.
 */
import type { Operation } from "../../base/description/operation.ts";
import type { KeyAccess, MailAccess } from "./access.ts";
import type { KeyedRequest, MailRequest } from "./mail_route.ts";

interface Further {
  /** True where the path is not in the specification. */
  addition?: boolean;
  /** True where the key of an expired trial still opens the route. */
  expiredTrial?: boolean;
  /** The limit of the body; 256 KiB when absent. */
  bodyLimit?: "mailRequestBytes";
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

export const SEND = [
  route("post", "/v1/mail/inboxes/{id}/messages/send", "sendMail", "write", "Send mail", {
    note: "The Idempotency-Key header is supported.",
    bodyLimit: "mailRequestBytes",
  }),
] as const;

export const ANSWERING = [
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
] as const;

export const DRAFTS = [
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

export const APPROVAL = [
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
] as const;

const ROWS = [
  ...SEND,
  ...ANSWERING,
  ...DRAFTS,
  ...APPROVAL,
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
