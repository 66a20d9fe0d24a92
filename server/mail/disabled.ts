/**
 * The mail area while it is off: every one of its paths is known and answers 503 `mail_disabled`
 * (specification, sections 1 and 4.7), so that a client can tell "off here" from "no such path".
 */
import { RelayError } from "../errors.ts";
import type { Route } from "../http/route.ts";

/** Methods by path. */
const API: readonly (readonly [Route["method"][], string])[] = [
  [["POST"], "/v1/mail/agents/register"],
  [["POST"], "/v1/mail/agents/register-trial"],
  [["GET", "DELETE"], "/v1/mail/org"],
  [["POST"], "/v1/mail/org/google"],
  [["POST"], "/v1/mail/org/attach"],
  [["POST"], "/v1/mail/org/magic"],
  [["GET", "POST"], "/v1/mail/org/magic/confirm"],
  [["POST"], "/v1/mail/org/claim"],
  [["GET", "POST"], "/v1/mail/org/claim/confirm"],
  [["GET", "POST"], "/v1/mail/inboxes"],
  [["GET", "PATCH", "DELETE"], "/v1/mail/inboxes/{id}"],
  [["GET"], "/v1/mail/inboxes/{id}/messages"],
  [["POST"], "/v1/mail/inboxes/{id}/messages/send"],
  [["GET"], "/v1/mail/inboxes/{id}/threads"],
  [["GET", "POST"], "/v1/mail/inboxes/{id}/drafts"],
  [["GET", "PATCH", "DELETE"], "/v1/mail/messages/{id}"],
  [["POST"], "/v1/mail/messages/{id}/reply"],
  [["GET"], "/v1/mail/messages/{id}/raw"],
  [["GET"], "/v1/mail/messages/{id}/attachments/{attachment_id}"],
  [["GET", "PATCH"], "/v1/mail/threads/{id}"],
  [["GET", "PATCH", "DELETE"], "/v1/mail/drafts/{id}"],
  [["POST"], "/v1/mail/drafts/{id}/send"],
  [["GET"], "/v1/mail/search"],
  [["GET"], "/v1/mail/usage"],
  [["GET"], "/v1/mail/delivery-health"],
  [["GET"], "/v1/mail/activity"],
  [["GET", "POST"], "/v1/mail/api-keys"],
  [["GET", "DELETE"], "/v1/mail/api-keys/{id}"],
  [["GET", "POST"], "/v1/mail/webhooks"],
  [["GET", "PATCH", "DELETE"], "/v1/mail/webhooks/{id}"],
  [["POST"], "/v1/mail/webhooks/{id}/rotate"],
  [["POST"], "/v1/mail/webhooks/{id}/test"],
  [["GET"], "/v1/mail/webhooks/{id}/deliveries"],
  [["POST"], "/v1/mail/webhooks/{id}/deliveries/{delivery_id}/redeliver"],
  [["GET"], "/v1/mail/suppressions"],
  [["DELETE"], "/v1/mail/suppressions/{address}"],
  [["POST"], "/v1/mail/inbound/raw"],
  [["POST"], "/v1/mail/events"],
];

/** Without CORS: the operator's routes, the page for people, and the tool server. */
const CLOSED: typeof API = [
  [["POST"], "/v1/admin/mail/orgs/{id}/suspend"],
  [["POST"], "/v1/admin/mail/orgs/{id}/unsuspend"],
  [["GET", "POST"], "/mail/drafts/{id}"],
  [["POST"], "/mcp/mail"],
];

/** Every route of the mail area, answering 503 `mail_disabled` before it looks at the request. */
export function disabledMailRoutes(): Route[] {
  const routes = (table: typeof API, cors: Route["cors"]) =>
    table.flatMap(([methods, path]) =>
      methods.map((method): Route => ({ method, path, cors, handle: refuse }))
    );
  return [...routes(API, "open"), ...routes(CLOSED, "none")];
}

function refuse(): never {
  throw new RelayError(
    "mail_disabled",
    "the mail area is off on this relay; messages between agents (POST /v1/messages) work without it, and its operator can tell when mail is on",
  );
}
