/** GET and POST /v1/notifications/unsubscribe (specification, 4.2; RFC 8058). */
import type { Deps } from "../deps.ts";
import { invalidJson } from "../errors.ts";
import type { ReadBody } from "../http/body.ts";
import { readQuery, text } from "../http/query.ts";
import type { Handler, Route } from "../http/route.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import {
  hashUnsubscribeToken,
  stageSubscription,
  subscriptionKey,
  type SubscriptionRecord,
  subscriptionRecords,
  unsubscribeKey,
  type UnsubscribeRow,
} from "./subscription.ts";

const PATH = "/v1/notifications/unsubscribe";
const CONFIRMATION = "No more unread digests will come to this address for this agent.";
const HEADERS = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };

export interface UnsubscribeServices {
  deps: Deps;
  readBody: ReadBody;
  records: RecordCache;
  commits: GroupCommit;
}

/** The link of a digest, and its one-click form: the answer is the same for every token. */
export function unsubscribeRoutes(services: UnsubscribeServices): Route[] {
  const { readBody, deps } = services;
  const { rawBodyBytes } = deps.config.limits;
  const handle: Handler = async (c) => {
    if (c.req.raw.method === "POST") await readBody(c.req.raw, rawBodyBytes);
    const { token } = readQuery(c.get("query"), { token: text() });
    if (token === undefined || token === "") {
      throw invalidJson("query parameter token is required: the one in the digest's link");
    }
    if (!c.get("head")) await unsubscribe(services, token);
    return new Response(CONFIRMATION, { headers: HEADERS });
  };
  return [
    { method: "GET", path: PATH, handle },
    { method: "POST", path: PATH, handle },
  ];
}

/** Clears the subscription that the token belongs to; the token dies with it. Any other token has no effect. */
async function unsubscribe(
  { records, commits, deps }: UnsubscribeServices,
  token: string,
): Promise<void> {
  const row = await records.readRow<UnsubscribeRow>(unsubscribeKey(hashUnsubscribeToken(token)));
  if (row === null) return;
  const { agentId } = row;
  await commits.submit<void>({
    records: subscriptionRecords(agentId),
    sizeBytes: 1_000,
    proof: subscriptionKey(agentId),
    plan(turn) {
      const subscription = turn.record<SubscriptionRecord>(subscriptionKey(agentId));
      if (subscription?.unsubscribeToken !== token) return;
      stageSubscription(turn, agentId, null, deps.random);
    },
  });
}
