/** Every request that changes something with a key of the mail area. */
import { isKeyAccess } from "../../server/mail/access/access.ts";
import { MAIL_ROUTES } from "../../server/mail/routes.ts";

/** An address that the org is to have suppressed. */
export const SUPPRESSED = "gone@example.org";

/** The routes as they are declared. */
export function changingRoutes(): string[] {
  return MAIL_ROUTES
    .filter(({ may, method }) => isKeyAccess(may) && method !== "GET")
    .map(({ method, path }) => `${method} ${path}`);
}

/** What an org has that requests may be about. */
export interface Things {
  inbox: string;
  spareInbox: string;
  message: string;
  thread: string;
  scheduled: string;
  draft: string;
  spareKey: string;
  webhook: string;
  /** Of the webhook. */
  delivery: string;
  orgId: string;
  idToken: string;
}

export interface KeyChange {
  /** Method and path. */
  route: string;
  path: (things: Things) => string;
  /** Absent where the route takes none. */
  body?: (things: Things) => unknown;
  headers?: Record<string, string>;
  /** Status of the request with a good key. */
  status: number;
}

/** Where nobody listens. */
export const NOBODY = "https://127.0.0.1:9/hook";

export const LETTER = { to: "ann@example.org", text: "Hello." };

/** Every request that changes something with a key; requests that end the org, or a thing, come last. */
export const KEY_CHANGES: readonly KeyChange[] = [
  {
    route: "POST /v1/mail/org/claim",
    path: () => "/v1/mail/org/claim",
    body: () => ({ email: "other@example.org" }),
    status: 202,
  },
  {
    route: "POST /v1/mail/org/attach",
    path: () => "/v1/mail/org/attach",
    body: ({ idToken }) => ({ id_token: idToken }),
    status: 200,
  },
  {
    route: "DELETE /v1/mail/org/google",
    path: () => "/v1/mail/org/google",
    status: 204,
  },
  {
    route: "POST /v1/mail/inboxes",
    path: () => "/v1/mail/inboxes",
    body: () => ({ allow_send: ["example.org"], block_receive: ["x.test"], client_id: "c" }),
    status: 201,
  },
  {
    route: "PATCH /v1/mail/inboxes/{id}",
    path: ({ inbox }) => `/v1/mail/inboxes/${inbox}`,
    body: () => ({ display_name: "Changed" }),
    status: 200,
  },
  {
    route: "POST /v1/mail/inboxes/{id}/messages/send",
    path: ({ inbox }) => `/v1/mail/inboxes/${inbox}/messages/send`,
    body: () => LETTER,
    status: 202,
  },
  {
    route: "POST /v1/mail/inboxes/{id}/messages/send",
    path: ({ inbox }) => `/v1/mail/inboxes/${inbox}/messages/send`,
    body: () => ({ ...LETTER, html: "<p>large</p>".repeat(8_000) }),
    headers: { "Idempotency-Key": "once" },
    status: 202,
  },
  {
    route: "PATCH /v1/mail/messages/{id}",
    path: ({ message }) => `/v1/mail/messages/${message}`,
    body: () => ({ read: true, add_labels: ["x"] }),
    status: 200,
  },
  {
    route: "PATCH /v1/mail/threads/{id}",
    path: ({ thread }) => `/v1/mail/threads/${thread}`,
    body: () => ({ read: false }),
    status: 200,
  },
  {
    route: "POST /v1/mail/messages/{id}/reply",
    path: ({ message }) => `/v1/mail/messages/${message}/reply`,
    body: () => ({ text: "Yes." }),
    status: 202,
  },
  {
    route: "POST /v1/mail/messages/{id}/forward",
    path: ({ message }) => `/v1/mail/messages/${message}/forward`,
    body: () => ({ to: "ann@example.org" }),
    status: 202,
  },
  {
    route: "POST /v1/mail/messages/{id}/cancel",
    path: ({ scheduled }) => `/v1/mail/messages/${scheduled}/cancel`,
    status: 200,
  },
  {
    route: "POST /v1/mail/inboxes/{id}/drafts",
    path: ({ inbox }) => `/v1/mail/inboxes/${inbox}/drafts`,
    body: () => LETTER,
    status: 201,
  },
  {
    route: "PATCH /v1/mail/drafts/{id}",
    path: ({ draft }) => `/v1/mail/drafts/${draft}`,
    body: () => ({ text: "Changed." }),
    status: 200,
  },
  {
    route: "POST /v1/mail/drafts/{id}/send",
    path: ({ draft }) => `/v1/mail/drafts/${draft}/send`,
    body: () => ({}),
    headers: { "Idempotency-Key": "draft" },
    status: 202,
  },
  {
    route: "POST /v1/mail/api-keys",
    path: () => "/v1/mail/api-keys",
    body: () => ({ name: "made" }),
    status: 201,
  },
  {
    route: "POST /v1/mail/webhooks",
    path: () => "/v1/mail/webhooks",
    body: () => ({ url: NOBODY, client_id: "c" }),
    status: 201,
  },
  {
    route: "PATCH /v1/mail/webhooks/{id}",
    path: ({ webhook }) => `/v1/mail/webhooks/${webhook}`,
    body: () => ({ events: ["draft.sent"], status: "active" }),
    status: 200,
  },
  {
    route: "POST /v1/mail/webhooks/{id}/rotate",
    path: ({ webhook }) => `/v1/mail/webhooks/${webhook}/rotate`,
    status: 200,
  },
  {
    route: "POST /v1/mail/webhooks/{id}/test",
    path: ({ webhook }) => `/v1/mail/webhooks/${webhook}/test`,
    status: 202,
  },
  {
    route: "POST /v1/mail/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    path: ({ webhook, delivery }) =>
      `/v1/mail/webhooks/${webhook}/deliveries/${delivery}/redeliver`,
    status: 202,
  },
  {
    route: "DELETE /v1/mail/suppressions/{address}",
    path: () => `/v1/mail/suppressions/${encodeURIComponent(SUPPRESSED)}`,
    status: 204,
  },
  {
    route: "DELETE /v1/mail/api-keys/{id}",
    path: ({ spareKey }) => `/v1/mail/api-keys/${spareKey}`,
    status: 204,
  },
  {
    route: "DELETE /v1/mail/webhooks/{id}",
    path: ({ webhook }) => `/v1/mail/webhooks/${webhook}`,
    status: 204,
  },
  {
    route: "DELETE /v1/mail/messages/{id}",
    path: ({ message }) => `/v1/mail/messages/${message}`,
    status: 204,
  },
  {
    route: "DELETE /v1/mail/drafts/{id}",
    path: ({ draft }) => `/v1/mail/drafts/${draft}`,
    status: 204,
  },
  {
    route: "DELETE /v1/mail/inboxes/{id}",
    path: ({ spareInbox }) => `/v1/mail/inboxes/${spareInbox}`,
    status: 204,
  },
  {
    route: "DELETE /v1/mail/org",
    path: () => "/v1/mail/org",
    body: ({ orgId }) => ({ org_id: orgId }),
    status: 204,
  },
];

/** The same by tools. */
export const TOOL_CHANGES: Record<string, (things: Things) => Record<string, string>> = {
  create_inbox: () => ({ display_name: "x" }),
  send_email: ({ inbox }) => ({ inbox_id: inbox, to: "ann@example.org", text: "Hello." }),
  reply_to_message: ({ message }) => ({ message_id: message, text: "Yes." }),
  read_thread: ({ thread }) => ({ thread_id: thread }),
};
