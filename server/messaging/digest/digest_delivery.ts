/**
 * Delivers a digest. Every attempt decides again whether it is still wanted and what it says. A
 * digest that was delayed by an outage therefore reports what is undelivered now.
 *
 * What follows depends on the answer of the next hop. After a temporary refusal or no connection it
 * is tried again within 5 minutes, as long as it is wanted. After a permanent refusal it is tried
 * three times in all, since some servers call temporary refusals permanent. If no answer came after
 * the whole content was sent, the outcome is unknown and it is not repeated. A second digest is
 * worse than one that is missing: a later message causes another one.
 */
import { inKey } from "../mailboxes/agent_mailboxes.ts";
import { forNotices } from "../../base/mailer/next_hop_uses.ts";
import { noticeHandler, type NoticeServices } from "../../base/notices/notice_handler.ts";
import type { AttemptOutcome, OutgoingHandler } from "../../base/outgoing/outgoing_handler.ts";
import { partiesByDomain } from "../../base/outgoing/recipient_domain.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { addressCapKey, admitDigest } from "./address_cap.ts";
import { stageCandidate } from "./candidates.ts";
import { composeDigest, NAMED_SENDERS } from "./digest_mail.ts";
import { DIGEST_KIND, type DigestPayload } from "./digest_queue.ts";
import { unseenSinceMs } from "./due_rules.ts";
import { hashMailbox, isStopped, stopKey } from "./mail_stop.ts";
import { subscriptionKey } from "./subscription.ts";
import { findUnreadSince, summariseUnread, type UnreadSummary } from "./unread.ts";
import { type DigestServices, isSubscribed, readWanted, type Subscribed } from "./wanted.ts";
import { DAY_MS, MINUTE_MS } from "../../base/time/time_units.ts";

/** With the tick they stay within 5 minutes. */
export const DIGEST_WAITS = {
  waitsMs: [1 * MINUTE_MS, 2 * MINUTE_MS, 4 * MINUTE_MS, 4.8 * MINUTE_MS],
};
/**
 * Greatest wait for the last reply: agents choose the addresses, and one that makes a next hop wait must
 * not keep it from other notices for long. The next digest makes up for unknown outcomes.
 */
const FINAL_REPLY_MS = MINUTE_MS;

export interface DigestDeliveryOptions extends DigestServices, NoticeServices {
}

/** What a digest has to tell. */
interface Told {
  subscription: Subscribed;
  unread: UnreadSummary;
  composedMs: number;
}

/** What the outgoing queue does with digests. */
export function digestDelivery(options: DigestDeliveryOptions): OutgoingHandler<DigestPayload> {
  return noticeHandler<DigestPayload, Told>(options, {
    kind: DIGEST_KIND,
    concurrency: forNotices(options.deps.config.mail.connections),
    partiesOf: partiesByDomain,
    waits: DIGEST_WAITS,
    longestPauseMs: options.intervalMs,
    refusedMs: DAY_MS,
    read: ({ payload }) => read(options, payload),
    compose: (told, { payload }) => compose(options, told, payload),
    withdraw: ({ composedMs }, { payload }) => recordSending(options, payload, composedMs),
    // Messages that came since it was composed count again from its end.
    extraWrites: ({ payload: { agentId }, result }) =>
      result === "retry"
        ? null
        : (transaction) => stageCandidate(transaction, agentId, options.retentionMs),
  });
}

async function read(
  options: DigestDeliveryOptions,
  { agentId, tokenHash }: DigestPayload,
): Promise<Told | AttemptOutcome<never>> {
  const { store, undelivered } = options;
  const composedMs = store.now();
  const wanted = await readWanted(options, agentId, composedMs, tokenHash);
  if ("unwanted" in wanted) return dropped(wanted.unwanted);
  const { subscription, lastPollMs } = wanted;
  const sinceMs = unseenSinceMs({ ...subscription, lastNotifiedMs: null, lastPollMs }, composedMs);
  if (await findUnreadSince(undelivered, agentId, sinceMs, composedMs) === null) {
    return dropped("fetched");
  }
  const unread = await summariseUnread(undelivered, agentId);
  if (unread.count === 0 && !unread.isPartial) return dropped("fetched");
  return { subscription, unread, composedMs };
}

async function compose(
  { identities, deps, from }: DigestDeliveryOptions,
  { subscription, unread: { count, senderIds, isPartial }, composedMs }: Told,
  { agentId, messageId }: DigestPayload,
) {
  const named = senderIds.slice(0, NAMED_SENDERS);
  const content = await composeDigest({
    from,
    to: subscription.email,
    baseUrl: deps.config.baseUrl,
    handle: (await identities.byId(agentId)).handle,
    count: Math.max(1, count), // at least one was found above
    isPartial,
    senders: await Promise.all(named.map((id) => identities.byId(id))),
    furtherSenders: senderIds.length - named.length,
    unsubscribeToken: subscription.unsubscribeToken,
    messageId,
    atMs: composedMs,
  });
  return { to: subscription.email, content, finalReplyMs: FINAL_REPLY_MS };
}

/**
 * The last check before the content leaves. Stamps the digest with the time at which this attempt
 * composed it. After an outage, the interval to the next digest and the share of its address count
 * from that time.
 * @returns what becomes of a digest that is not wanted any more, or not yet
 */
async function recordSending(
  { commits, intervalMs, addressKey }: DigestDeliveryOptions,
  { agentId, tokenHash }: DigestPayload,
  composedMs: number,
): Promise<AttemptOutcome<never> | null> {
  return await commits.submit<AttemptOutcome<never> | null>({
    // A delivery under way goes on: what is decided is decided by the time at which it was composed.
    whateverTheClock: true,
    plan(transaction) {
      const subscription = transaction.record(subscriptionKey(agentId));
      if (!isSubscribed(subscription, tokenHash)) return dropped("unsubscribed");
      if (transaction.record(inKey(agentId))!.banned) return dropped("banned");
      const stop = stopKey(hashMailbox(addressKey, subscription.email));
      if (isStopped(transaction.record(stop), composedMs)) return dropped("stopped");
      const capKey = addressCapKey(subscription.email);
      const stampsMs = transaction.record(capKey)?.stampsMs ?? [];
      const ownMs = subscription.lastNotifiedMs;
      const admitted = admitDigest(stampsMs, composedMs, intervalMs, ownMs);
      if ("untilMs" in admitted) {
        const afterMs = admitted.untilMs - transaction.nowMs;
        return { result: "retry", reason: "share of the address used up", afterMs };
      }
      transaction.putRecord(capKey, { v: 1, ...admitted }, intervalMs + EXPIRY_MARGIN_MS);
      transaction.putRecord(subscriptionKey(agentId), {
        ...subscription,
        lastNotifiedMs: composedMs,
      });
      return null;
    },
  });
}

function dropped(reason: string): AttemptOutcome<never> {
  return { result: "dropped", reason };
}
