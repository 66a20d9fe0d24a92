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
import { isGivenUp } from "../../base/outgoing/given_up_at.ts";
import { isDeferral, type Mailer, type MailOutcome } from "../../base/mailer/mailer.ts";
import type {
  AttemptOutcome,
  OutgoingHandler,
  OutgoingItem,
} from "../../base/outgoing/outgoing_handler.ts";
import { forNotices } from "../../base/mailer/next_hop_uses.ts";
import { partiesByDomain } from "../../base/outgoing/recipient_domain.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../base/storage/rows/store.ts";
import { addressCapKey, admitDigest } from "./address_cap.ts";
import { stageCandidate } from "./candidates.ts";
import { composeDigest, NAMED_SENDERS } from "./digest_mail.ts";
import { DIGEST_KIND, type DigestPayload } from "./digest_queue.ts";
import { unseenSinceMs } from "./due_rules.ts";
import { hashMailbox, isStopped, stopKey } from "./mail_stop.ts";
import { subscriptionKey } from "./subscription.ts";
import { findUnreadSince, summariseUnread } from "./unread.ts";
import { type DigestServices, isSubscribed, readWanted } from "./wanted.ts";
import { DAY_MS, MINUTE_MS } from "../../base/time/time_units.ts";

/** Waits after the first attempts; the last one repeats. With the tick they stay within 5 minutes. */
const RETRY_MS = [1 * MINUTE_MS, 2 * MINUTE_MS, 4 * MINUTE_MS, 4.8 * MINUTE_MS];
const JITTER = 0.1;
const MAX_REFUSALS = 3;
/** How long a next hop may refuse this mail temporarily. */
const EXPIRES_MS = DAY_MS;
/**
 * Greatest wait for the last reply: agents choose the addresses, and whoever has a next hop wait shall not
 * keep it from other notices for long. What stays unknown is made up for by the next digest.
 */
const FINAL_REPLY_MS = MINUTE_MS;

export interface DigestDeliveryOptions extends DigestServices {
  from: { name: string; address: string };
  mailer: Mailer;
}

/** Thrown between 354 and the content: the digest is not wanted any more, or not yet. */
class Withdrawn extends Error {
  constructor(readonly outcome: AttemptOutcome<DigestPayload>) {
    super("the digest was withdrawn");
  }
}

/** What the outgoing queue does with digests. */
export function digestDelivery(options: DigestDeliveryOptions): OutgoingHandler<DigestPayload> {
  return {
    kind: DIGEST_KIND,
    concurrency: forNotices(options.deps.config.mail.connections),
    partiesOf: partiesByDomain,
    oneNextHop: true,
    longestPauseMs: Math.max(options.intervalMs, ...RETRY_MS),
    attempt: (item) => attempt(options, item),
    // Messages that came since it was composed count again from its end.
    extraWrites: ({ payload: { agentId }, result }) =>
      result === "retry"
        ? null
        : (transaction) => stageCandidate(transaction, agentId, options.retentionMs),
  };
}

async function attempt(
  options: DigestDeliveryOptions,
  item: OutgoingItem<DigestPayload>,
): Promise<AttemptOutcome<DigestPayload>> {
  const { store, identities, deps, from, mailer, undelivered } = options;
  const { agentId, tokenHash, messageId } = item.payload;
  const composedMs = store.now();
  const wanted = await readWanted(options, agentId, composedMs, tokenHash);
  if ("unwanted" in wanted) return { result: "dropped", reason: wanted.unwanted };
  const { subscription, lastPollMs } = wanted;
  const sinceMs = unseenSinceMs({ ...subscription, lastNotifiedMs: null, lastPollMs }, composedMs);
  if (await findUnreadSince(undelivered, agentId, sinceMs, composedMs) === null) {
    return { result: "dropped", reason: "fetched" };
  }
  const { count, senderIds, isPartial } = await summariseUnread(undelivered, agentId);
  if (count === 0 && !isPartial) return { result: "dropped", reason: "fetched" };
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
  try {
    const envelope = { from: from.address, to: subscription.email };
    const outcome = await mailer.send({ ...envelope, content, finalReplyMs: FINAL_REPLY_MS }, {
      signal: item.signal,
      async beforeContent() {
        await recordSending(options, item.payload, composedMs);
        await item.commitData();
      },
    });
    return afterwards(store, item, outcome);
  } catch (error) {
    if (error instanceof Withdrawn) return error.outcome;
    throw error;
  }
}

/**
 * The last check before the content leaves. Stamps the digest with the time at which this attempt
 * composed it. After an outage, the interval to the next digest and the share of its address count
 * from that time.
 * @throws Withdrawn
 */
async function recordSending(
  { commits, intervalMs, addressKey }: DigestDeliveryOptions,
  { agentId, tokenHash }: DigestPayload,
  composedMs: number,
): Promise<void> {
  await commits.submit({
    // A delivery under way goes on: what is decided is decided by the time at which it was composed.
    whateverTheClock: true,
    plan(transaction) {
      const subscription = transaction.record(subscriptionKey(agentId));
      if (!isSubscribed(subscription, tokenHash)) throw dropped("unsubscribed");
      if (transaction.record(inKey(agentId))!.banned) throw dropped("banned");
      const stop = stopKey(hashMailbox(addressKey, subscription.email));
      if (isStopped(transaction.record(stop), composedMs)) throw dropped("stopped");
      const capKey = addressCapKey(subscription.email);
      const stampsMs = transaction.record(capKey)?.stampsMs ?? [];
      const ownMs = subscription.lastNotifiedMs;
      const admitted = admitDigest(stampsMs, composedMs, intervalMs, ownMs);
      if ("untilMs" in admitted) {
        const afterMs = admitted.untilMs - transaction.nowMs;
        throw new Withdrawn({ result: "retry", reason: "share of the address used up", afterMs });
      }
      transaction.putRecord(capKey, { v: 1, ...admitted }, intervalMs + EXPIRY_MARGIN_MS);
      transaction.putRecord(subscriptionKey(agentId), {
        ...subscription,
        lastNotifiedMs: composedMs,
      });
    },
  });
}

function dropped(reason: string): Withdrawn {
  return new Withdrawn({ result: "dropped", reason });
}

function afterwards(
  store: Store,
  item: OutgoingItem<DigestPayload>,
  outcome: MailOutcome,
): AttemptOutcome<DigestPayload> {
  if (outcome.result === "sent") return { result: "done" };
  const { reason } = outcome;
  if (outcome.result === "unknown") return { result: "unknown", reason: `unknown: ${reason}` };
  const { payload, attempts } = item;
  const aboutThisMail = outcome.stage === "recipient" || outcome.stage === "content";
  const refusals = payload.refusals + (aboutThisMail && outcome.permanent ? 1 : 0);
  if (refusals >= MAX_REFUSALS) return { result: "dead", reason: `refused: ${reason}` };
  const trying = { fromMs: item.queuedAtMs, lengthMs: EXPIRES_MS };
  if (aboutThisMail && isGivenUp(item, trying, store)) {
    return { result: "dead", reason: `expired: ${reason}` };
  }
  return {
    result: "retry",
    reason,
    afterMs: retryMs(attempts, store.random(1)[0]! / 256),
    unreachable: outcome.stage === "connection",
    deferred: isDeferral(outcome),
    payload: { ...payload, refusals },
  };
}

/**
 * Wait after the n-th attempt, up to a tenth shorter, so that attempts that failed together spread
 * out.
 */
export function retryMs(attempts: number, share: number): number {
  const fullMs = RETRY_MS[Math.min(Math.max(1, attempts), RETRY_MS.length) - 1]!;
  return Math.round(fullMs * (1 - JITTER * share));
}
