/**
 * The links of a digest: /v1/notifications for people, /v1/notifications/unsubscribe for everybody
 * (specification, 4.2 and 6; RFC 8058), /v1/notifications/stop for the button behind it (decisions,
 * "Bounds added"). No answer tells whether a token belongs to anybody.
 */
import { z } from "@hono/zod-openapi";
import type { AgentCore } from "../agents/agent_core.ts";
import {
  type PublicRoute,
  publicRoute,
  type RouteWords,
} from "../../base/description/declaration.ts";
import type { Content } from "../../base/description/operation.ts";
import { invalidJson } from "../../base/errors.ts";
import { allowPreflight, openCors } from "../../base/http/routes/cors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readQuery, text } from "../../base/http/fields/query.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { hashMailbox, stageStop } from "./mail_stop.ts";
import { answerChoices, answerStopped, answerUnsubscribed } from "./notification_page.ts";
import { issueStopToken, openStopToken } from "./stop_token.ts";
import {
  hashUnsubscribeToken,
  stageSubscription,
  subscriptionKey,
  unsubscribeKey,
  type UnsubscribeRow,
} from "./subscription.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

const UNSUBSCRIBED = "No more unread digests will come to this address for this agent.";
const STOPPED = "No more unread digests will come from this relay to this address.";
const ALLOW = "GET, HEAD, POST, OPTIONS";
const TEXT_HEADERS = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
/** How long the link of an ended subscription still leads to the second button. */
const REMEMBERED_MS = 30 * DAY_MS;

const tokenQuery = (description: string) =>
  z.object({ token: z.string().min(1).openapi({ description }) });

const UnsubscribeQuery = tokenQuery("The one in the digest's link.");
const StopQuery = tokenQuery(
  "The one of the second button of the unsubscribe page; it works for an hour.",
);

const page: Content = { type: "text/html", schema: z.string().min(1) };

const lineOf = (line: string): Content => ({
  type: "text/plain",
  schema: z.string().min(1),
  examples: { line },
});

/** What all of them answer and refuse. */
const outcome = (...content: Content[]): Pick<RouteWords, "answers" | "errors"> => ({
  answers: {
    200: {
      description:
        "The same line for every token, so that it tells nothing about who is subscribed.",
      headers: ["Cache-Control"],
      content,
    },
  },
  errors: { invalid_json: "the token is missing, empty or given twice" },
});

/** What GET and POST of the link have in common. */
const LINK = {
  path: "/v1/notifications/unsubscribe",
  tag: "Notifications",
  cors: "own",
  // The line of text may be read by scripts of any origin; the page, with its token, by none.
  ownCors(request, headers) {
    if (wantsPage(request)) return;
    openCors(headers);
    if (request.method !== "OPTIONS") return;
    allowPreflight(headers, ALLOW, request.headers.get("access-control-request-headers"));
  },
  handle: (services: AgentCore) => {
    const { addressKey, deps } = services;
    return async (c) => {
      const { raw } = c.req;
      if (raw.method === "POST") await readBody(c);
      const token = readToken(c.get("query"), "digest's link");
      if (c.get("head")) return new Response(UNSUBSCRIBED, { headers: TEXT_HEADERS });
      const mailboxHash = await unsubscribe(services, token);
      if (!wantsPage(raw)) return new Response(UNSUBSCRIBED, { headers: TEXT_HEADERS });
      const stopToken = issueStopToken(addressKey, mailboxHash, token, deps.now());
      return await answerUnsubscribed(UNSUBSCRIBED, stopToken);
    };
  },
} satisfies Partial<PublicRoute<AgentCore>>;

const followLink = publicRoute({
  ...LINK,
  method: "GET",
  id: "unsubscribe",
  summary: "Stop unread digests",
  words: {
    description: "The link in a digest: clears the agent's notification e-mail. The token is the " +
      "credential and dies with the subscription, so the link works once; there is no other " +
      "effect. An agent turns digests on again with PATCH /v1/agents/me.",
    query: UnsubscribeQuery,
    ...outcome(lineOf(UNSUBSCRIBED)),
  },
});

const unsubscribeOneClick = publicRoute({
  ...LINK,
  method: "POST",
  id: "unsubscribeOneClick",
  summary: "Stop unread digests with one click",
  addition: true,
  page: true,
  bodyLimit: "rawBodyBytes",
  words: {
    description:
      "What mail programs send for the List-Unsubscribe header (RFC 8058): the same as " +
      "GET, with the token in the query. The body is ignored. Where Accept names text/html, as a " +
      "browser's does, the answer is a page with a second button, which leads to " +
      "POST /v1/notifications/stop; it looks the same for every token.",
    query: UnsubscribeQuery,
    ...outcome(lineOf(UNSUBSCRIBED), page),
  },
});

const notificationChoices = publicRoute({
  method: "GET",
  path: "/v1/notifications",
  id: "notificationChoices",
  tag: "Notifications",
  summary: "Page of a digest's reader",
  addition: true,
  page: true,
  cors: "none",
  words: {
    description: "The other link in a digest: a page with a button that leads to " +
      "POST /v1/notifications/unsubscribe. Opening it has no effect, and it looks the same for " +
      "every token.",
    query: UnsubscribeQuery,
    ...outcome(page),
  },
  handle: () => (c) => answerChoices(readToken(c.get("query"), "digest's link")),
});

const stopNotifications = publicRoute({
  method: "POST",
  path: "/v1/notifications/stop",
  id: "stopNotifications",
  tag: "Notifications",
  summary: "Stop all digests to an address",
  addition: true,
  page: true,
  cors: "none",
  bodyLimit: "rawBodyBytes",
  words: {
    description:
      "The second button of the unsubscribe page: for a year no digest of this relay goes to the " +
      "address, whatever agent names it, in capitals or with a `+` part too. The relay keeps a keyed " +
      "hash of the address for it. PATCH /v1/agents/me answers as ever. The body is ignored. A " +
      "page where Accept names text/html, else one line.",
    query: StopQuery,
    ...outcome(lineOf(STOPPED), page),
  },
  handle: ({ deps, commits, addressKey }: AgentCore) => async (c) => {
    await readBody(c);
    const token = readToken(c.get("query"), "unsubscribe page's second button");
    const mailboxHash = openStopToken(addressKey, token, deps.now());
    if (mailboxHash !== null) {
      await commits.submit((transaction) => stageStop(transaction, mailboxHash));
    }
    if (wantsPage(c.req.raw)) return await answerStopped(STOPPED);
    return new Response(STOPPED, { headers: TEXT_HEADERS });
  },
});

export const NOTIFICATION_ROUTES = [
  followLink,
  unsubscribeOneClick,
  notificationChoices,
  stopNotifications,
];

/** What a browser sends when a button is pressed; GET is one line of text for everybody. */
function wantsPage(request: Request): boolean {
  return request.method === "POST" && namesHtml(request);
}

/** @throws RelayError `invalid_json` */
function readToken(query: string, where: string): string {
  const { token } = readQuery(query, { token: text() });
  if (token === undefined || token === "") {
    throw invalidJson(`query parameter token is required: the one in the ${where}`);
  }
  return token;
}

/** Whom a link had belonged to. */
interface UnsubscribedRow {
  v: 1;
  mailboxHash: string;
  untilMs: number;
}

const unsubscribedKey = defineRow<[tokenHash: string]>(["unsubscribed"], 1, {
  holds: "which address, as its HMAC, a used unsubscribe token was for",
  expires: "30 d",
});

/**
 * Clears the subscription that the token belongs to, and ends the token. Any other token has no
 * effect.
 * @returns the mailbox that it belongs to or had belonged to, null for none
 */
async function unsubscribe(
  { records, commits, deps, addressKey }: AgentCore,
  token: string,
): Promise<string | null> {
  const tokenHash = hashUnsubscribeToken(token);
  const [row, former] = await Promise.all([
    records.readRow<UnsubscribeRow>(unsubscribeKey(tokenHash)),
    records.readRow<UnsubscribedRow>(unsubscribedKey(tokenHash)),
  ]);
  const formerHash = former !== null && deps.now() < former.untilMs ? former.mailboxHash : null;
  if (row === null) return formerHash;
  const { agentId } = row;
  return await commits.submit((transaction) => {
    const subscription = transaction.record(subscriptionKey(agentId));
    if (subscription?.unsubscribeToken !== token || subscription.email === null) return formerHash;
    const mailboxHash = hashMailbox(addressKey, subscription.email);
    const untilMs = transaction.nowMs + REMEMBERED_MS;
    transaction.set(
      unsubscribedKey(tokenHash),
      { v: 1, mailboxHash, untilMs } satisfies UnsubscribedRow,
      REMEMBERED_MS + EXPIRY_MARGIN_MS,
    );
    stageSubscription(transaction, agentId, null, deps.random);
    return mailboxHash;
  });
}
