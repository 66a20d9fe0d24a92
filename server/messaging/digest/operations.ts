/** The unsubscribe link of digests (specification, 4.2 and 6; RFC 8058). */
import { z } from "@hono/zod-openapi";
import type { Content, Operation } from "../../base/description/operation.ts";
import { StopQuery, UnsubscribeQuery } from "../../base/description/schemas/queries.ts";

const OUTCOME = "The same line for every token, so that it tells nothing about who is subscribed.";

const page: Content = { type: "text/html", schema: z.string().min(1) };

const lineOf = (line: string): Content => ({
  type: "text/plain",
  schema: z.string().min(1),
  examples: { line },
});

const answersOf = (...content: Content[]): Operation["answers"] => ({
  200: { description: OUTCOME, headers: ["Cache-Control"], content },
});

const UNSUBSCRIBED = lineOf("No more unread digests will come to this address for this agent.");
const STOPPED = lineOf("No more unread digests will come from this relay to this address.");

export const NOTIFICATION_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/v1/notifications/unsubscribe",
    id: "unsubscribe",
    tag: "Notifications",
    summary: "Stop unread digests",
    description: "The link in a digest: clears the agent's notification e-mail. The token is the " +
      "credential and dies with the subscription, so the link works once; there is no other " +
      "effect. An agent turns digests on again with PATCH /v1/agents/me.",
    access: [],
    query: UnsubscribeQuery,
    answers: answersOf(UNSUBSCRIBED),
    errors: { invalid_json: "the token is missing, empty or given twice" },
  },
  {
    method: "post",
    path: "/v1/notifications/unsubscribe",
    id: "unsubscribeOneClick",
    tag: "Notifications",
    summary: "Stop unread digests with one click",
    description:
      "What mail programs send for the List-Unsubscribe header (RFC 8058): the same as " +
      "GET, with the token in the query. The body is ignored. Where Accept names text/html, as a " +
      "browser's does, the answer is a page with a second button, which leads to " +
      "POST /v1/notifications/stop; it looks the same for every token.",
    addition: true,
    page: true,
    access: [],
    query: UnsubscribeQuery,
    answers: answersOf(UNSUBSCRIBED, page),
    errors: { invalid_json: "the token is missing, empty or given twice" },
  },
  {
    method: "get",
    path: "/v1/notifications",
    id: "notificationChoices",
    tag: "Notifications",
    summary: "Page of a digest's reader",
    description: "The other link in a digest: a page with a button that leads to " +
      "POST /v1/notifications/unsubscribe. Opening it has no effect, and it looks the same for " +
      "every token.",
    addition: true,
    page: true,
    access: [],
    query: UnsubscribeQuery,
    answers: answersOf(page),
    errors: { invalid_json: "the token is missing, empty or given twice" },
  },
  {
    method: "post",
    path: "/v1/notifications/stop",
    id: "stopNotifications",
    tag: "Notifications",
    summary: "Stop all digests to an address",
    description:
      "The second button of the unsubscribe page: for a year no digest of this relay goes to the " +
      "address, whatever agent names it, in capitals or with a `+` part too. The relay keeps a keyed " +
      "hash of the address for it. PATCH /v1/agents/me answers as ever. The body is ignored. A " +
      "page where Accept names text/html, else one line.",
    addition: true,
    page: true,
    access: [],
    query: StopQuery,
    answers: answersOf(STOPPED, page),
    errors: { invalid_json: "the token is missing, empty or given twice" },
  },
];
