/** The unsubscribe link of digests (specification, 4.2 and 6; RFC 8058). */
import { z } from "@hono/zod-openapi";
import type { Operation } from "../operation.ts";
import { UnsubscribeQuery } from "../schemas/queries.ts";

const OUTCOME = "The same line for every token, so that it tells nothing about who is subscribed.";

const answers: Operation["answers"] = {
  200: {
    description: OUTCOME,
    headers: ["Cache-Control"],
    content: {
      type: "text/plain",
      schema: z.string().min(1),
      examples: { line: "No more unread digests will come to this address for this agent." },
    },
  },
};

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
    answers,
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
      "GET, with the token in the query. The body is ignored.",
    addition: true,
    access: [],
    query: UnsubscribeQuery,
    answers,
    errors: { invalid_json: "the token is missing, empty or given twice" },
  },
];
