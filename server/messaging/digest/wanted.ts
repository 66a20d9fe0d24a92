/** Whether an agent wants a digest, as the sweep and each attempt to deliver one ask before they look for messages. */
import type { AgentCore } from "../agents/agent_core.ts";
import { inKey, type InRecord } from "../mailboxes/agent_mailboxes.ts";
import { hashMailbox, isStopped, stopKey, type StopRecord } from "./mail_stop.ts";
import { hashUnsubscribeToken, subscriptionKey, type SubscriptionRecord } from "./subscription.ts";
import type { ScanUndelivered } from "./unread.ts";

export interface DigestServices extends AgentCore {
  /** Digest interval, which is also the window of the cap. */
  intervalMs: number;
  /** As long as a message is kept. */
  retentionMs: number;
  undelivered: ScanUndelivered;
  /** When the last accepted poll of an agent began. */
  lastPollMs(agentId: number): Promise<number | null>;
  /** When the last poll of an agent began that no record may hold yet. */
  rememberedPollMs(agentId: number): number | null;
}

/** The subscription of an agent with an address. */
export type Subscribed = SubscriptionRecord & { email: string; unsubscribeToken: string };

/** @param tokenHash of the one subscription that counts; any unless given */
export function isSubscribed(
  subscription: SubscriptionRecord | null,
  tokenHash?: string,
): subscription is Subscribed {
  if (subscription === null || subscription.email === null) return false;
  const { unsubscribeToken } = subscription;
  return unsubscribeToken !== null &&
    (tokenHash === undefined || hashUnsubscribeToken(unsubscribeToken) === tokenHash);
}

/**
 * What a digest of an agent rests on, or why there is none.
 * @param tokenHash as isSubscribed()
 */
export async function readWanted(
  { records, addressKey, ...services }: DigestServices,
  agentId: number,
  nowMs: number,
  tokenHash?: string,
): Promise<{ subscription: Subscribed; lastPollMs: number | null } | { unwanted: string }> {
  const [subscription, inbox, lastPollMs] = await Promise.all([
    records.read<SubscriptionRecord>(subscriptionKey(agentId)),
    records.read<InRecord>(inKey(agentId)),
    services.lastPollMs(agentId),
  ]);
  if (!isSubscribed(subscription, tokenHash)) return { unwanted: "unsubscribed" };
  if (inbox?.banned !== false) return { unwanted: "banned" };
  const stop = stopKey(hashMailbox(addressKey, subscription.email));
  if (isStopped(await records.read<StopRecord>(stop), nowMs)) return { unwanted: "stopped" };
  return { subscription, lastPollMs };
}
