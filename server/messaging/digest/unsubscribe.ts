/**
 * The links of a digest: /v1/notifications for people, /v1/notifications/unsubscribe for everybody
 * (specification, 4.2; RFC 8058), /v1/notifications/stop for the button behind it (docs/digest.md).
 * No answer tells whether a token belongs to anybody.
 */
import type { AgentCore } from "../agents/agent_core.ts";
import { invalidJson } from "../../base/errors.ts";
import type { RouteBody } from "../../base/http/bodies/body_pools.ts";
import { allowPreflight, openCors } from "../../base/http/routes/cors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readQuery, text } from "../../base/http/fields/query.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { Handler, Route } from "../../base/http/routes/route.ts";
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

const PATH = "/v1/notifications";
const UNSUBSCRIBED = "No more unread digests will come to this address for this agent.";
const STOPPED = "No more unread digests will come from this relay to this address.";
const TEXT_HEADERS = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
const ALLOW = "GET, HEAD, POST, OPTIONS";
/** How long the link of an ended subscription still leads to the second button. */
const REMEMBERED_MS = 30 * DAY_MS;

/** ["unsubscribed", SHA-256 of the token as base64url]: whom a link had belonged to. */
interface UnsubscribedRow {
  v: 1;
  mailboxHash: string;
  untilMs: number;
}

const unsubscribedKey = (tokenHash: string): Deno.KvKey => ["unsubscribed", tokenHash];

type UnsubscribeServices = Pick<AgentCore, "deps" | "records" | "commits" | "addressKey">;

/** The routes of a digest's links: the answers are the same for every token. */
export function unsubscribeRoutes(services: UnsubscribeServices): Route[] {
  const { deps, commits, addressKey } = services;
  const body: RouteBody = { limitBytes: deps.config.limits.rawBodyBytes, pool: "messages" };

  function readToken(query: string, where: string): string {
    const { token } = readQuery(query, { token: text() });
    if (token === undefined || token === "") {
      throw invalidJson(`query parameter token is required: the one in the ${where}`);
    }
    return token;
  }

  const unsubscribing: Handler = async (c) => {
    const { raw } = c.req;
    if (raw.method === "POST") await readBody(c);
    const token = readToken(c.get("query"), "digest's link");
    if (c.get("head")) return new Response(UNSUBSCRIBED, { headers: TEXT_HEADERS });
    const mailboxHash = await unsubscribe(services, token);
    if (!wantsPage(raw)) return new Response(UNSUBSCRIBED, { headers: TEXT_HEADERS });
    const stopToken = issueStopToken(addressKey, mailboxHash, token, deps.now());
    return answerUnsubscribed(UNSUBSCRIBED, stopToken);
  };
  const stopping: Handler = async (c) => {
    const { raw } = c.req;
    await readBody(c);
    const token = readToken(c.get("query"), "unsubscribe page's second button");
    const mailboxHash = openStopToken(addressKey, token, deps.now());
    if (mailboxHash !== null) {
      await commits.submit((transaction) => stageStop(transaction, mailboxHash));
    }
    if (wantsPage(raw)) return answerStopped(STOPPED);
    return new Response(STOPPED, { headers: TEXT_HEADERS });
  };
  const shared = { path: `${PATH}/unsubscribe`, handle: unsubscribing, ...TEXT_IS_OPEN };
  return [
    {
      method: "GET",
      path: PATH,
      page: true,
      cors: "none",
      handle: (c) => answerChoices(readToken(c.get("query"), "digest's link")),
    },
    { method: "GET", ...shared },
    { method: "POST", page: true, body, ...shared },
    { method: "POST", path: `${PATH}/stop`, page: true, cors: "none", body, handle: stopping },
  ];
}

/** What a browser sends when a button is pressed; GET is one line of text for everybody. */
function wantsPage(request: Request): boolean {
  return request.method === "POST" && namesHtml(request);
}

/** The line of text may be read by scripts of any origin; the page, with its token, by none. */
const TEXT_IS_OPEN: Pick<Route, "cors" | "ownCors"> = {
  cors: "own",
  ownCors(request, headers) {
    if (wantsPage(request)) return;
    openCors(headers);
    if (request.method !== "OPTIONS") return;
    allowPreflight(headers, ALLOW, request.headers.get("access-control-request-headers"));
  },
};

/**
 * Clears the subscription that the token belongs to, and ends the token. Any other token has no
 * effect.
 * @returns the mailbox that it belongs to or had belonged to, null for none
 */
async function unsubscribe(
  { records, commits, deps, addressKey }: UnsubscribeServices,
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
