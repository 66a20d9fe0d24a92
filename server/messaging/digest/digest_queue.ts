/** Records a digest and queues its mail, in one commit. */
import { inKey } from "../mailboxes/agent_mailboxes.ts";
import { pollKey } from "../messages/inbox/poll_record.ts";
import { newNotice, type NoticePayload } from "../../base/notices/notice_handler.ts";
import { stageOutgoing } from "../../base/outgoing/outgoing_row.ts";
import { domainTag } from "../../base/outgoing/recipient_domain.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { addressCapKey, admitDigest } from "./address_cap.ts";
import { believedMs } from "./due_rules.ts";
import { hashUnsubscribeToken, subscriptionKey } from "./subscription.ts";
import type { DigestServices, Subscribed } from "./wanted.ts";

export const DIGEST_KIND = "digest";

/** What the outgoing queue keeps of a digest: whom it is for. */
export interface DigestPayload extends NoticePayload {
  agentId: number;
  /**
   * Id of the subscription it was queued for: an address that was cleared or changed gets nothing.
   */
  tokenHash: string;
}

/** At most one digest waits for each agent. */
export const digestId = (agentId: number): string => `digest/${agentId}`;

/** An agent that is due, as it was found. */
export interface DueAgent {
  agentId: number;
  subscription: Subscribed;
  /** When the undelivered message was created that makes the agent due. */
  unseenMs: number;
}

export type Queued =
  | { result: "queued" }
  /** The address has had its share: the agent is to be looked at again at this time. */
  | { result: "capped"; untilMs: number }
  /** What made the agent due has changed: it is to be judged again. */
  | { result: "changed" };

/** Records the notification and queues the mail of a due agent, or tells why not. */
export async function queueDigest(
  { store, commits, intervalMs, rememberedPollMs }: Pick<
    DigestServices,
    "store" | "commits" | "intervalMs" | "rememberedPollMs"
  >,
  { agentId, subscription, unseenMs }: DueAgent,
): Promise<Queued> {
  const capKey = addressCapKey(subscription.email);
  return await commits.submit<Queued>((transaction) => {
    const { nowMs } = transaction;
    const now = transaction.record(subscriptionKey(agentId));
    const isSame = now?.unsubscribeToken === subscription.unsubscribeToken &&
      now.lastNotifiedMs === subscription.lastNotifiedMs;
    const recordedMs = transaction.record(pollKey(agentId))?.lastPollMs ?? null;
    const isPolled = [recordedMs, rememberedPollMs(agentId)].some((pollMs) =>
      believedMs(pollMs, nowMs) >= unseenMs
    );
    if (!isSame || isPolled || transaction.record(inKey(agentId))!.banned) {
      return { result: "changed" };
    }
    const stampsMs = transaction.record(capKey)?.stampsMs ?? [];
    const admitted = admitDigest(stampsMs, nowMs, intervalMs);
    if ("untilMs" in admitted) return { result: "capped", untilMs: admitted.untilMs };
    const isQueued = stageOutgoing(transaction, {
      id: digestId(agentId),
      kind: DIGEST_KIND,
      destination: domainTag(subscription.email),
      payload: {
        ...newNotice(store.random),
        agentId,
        tokenHash: hashUnsubscribeToken(subscription.unsubscribeToken),
      } satisfies DigestPayload,
      dueMs: nowMs,
      livedMs: store.lived(),
    });
    if (!isQueued) return { result: "changed" };
    transaction.putRecord(capKey, { v: 1, ...admitted }, intervalMs + EXPIRY_MARGIN_MS);
    transaction.putRecord(subscriptionKey(agentId), { ...subscription, lastNotifiedMs: nowMs });
    return { result: "queued" };
  });
}
