/** What commits write of a webhook, wherever they come from. */
import { admitOrRefuse } from "../../base/bounds/rate_window.ts";
import { rateLimited } from "../../base/errors.ts";
import { stageNewOutgoing } from "../../base/outgoing/outgoing_row.ts";
import { domainTag } from "../../base/outgoing/recipient_domain.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import { makeUlid } from "../records/mail_id.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import {
  type DeliveredEvent,
  DELIVERY_KIND,
  type DeliveryPayload,
  filterOf,
  webhookKey,
  type WebhookRecord,
} from "../records/webhook_record.ts";

/** Tests and redeliveries of one webhook that may wait. */
export const MOST_SINGLE = 20;
const SINGLE_RETRY_MS = 15_000;
/** Of an org: a request of some bytes makes one of 96 KiB, to a host of somebody's choice. */
export const SINGLES_AN_HOUR = 1_000;
const SINGLES_RULE = { limit: SINGLES_AN_HOUR, windowMs: HOUR_MS, bucketMs: MINUTE_MS };

/**
 * Writes a webhook that is new or changed, and what its org says of it.
 * @param org as the transaction has it
 */
export function stageWebhook(
  transaction: Transaction,
  org: OrgRecord,
  webhook: WebhookRecord,
): void {
  const { webhooks = [] } = org;
  const filter = filterOf(webhook);
  const isNew = !webhooks.some(({ id }) => id === webhook.id);
  transaction.putRecord(webhookKey(webhook.orgId, webhook.id), webhook);
  transaction.putRecord(orgKey(org.id), {
    ...org,
    webhooks: isNew
      ? [...webhooks, filter]
      : webhooks.map((other) => other.id === webhook.id ? filter : other),
  });
}

/** Queues the delivery of an event. @param isSingle outside the schedule */
export function stageDelivery(
  transaction: Pick<Transaction, "nowMs" | "set" | "announce">,
  { id: webhookId, orgId, url, epoch }: WebhookRecord,
  { inboxId, objectId, eventId, type, createdAtMs }: DeliveredEvent,
  isSingle: { random: (sizeBytes: number) => Uint8Array } | false,
): void {
  const { nowMs } = transaction;
  const own = isSingle === false ? "" : `/${makeUlid(nowMs, isSingle.random)}`;
  const payload: DeliveryPayload = {
    v: 1,
    orgId,
    inboxId,
    objectId,
    eventId,
    type,
    createdAtMs,
    webhookId,
    epoch,
    isSingle: isSingle !== false,
  };
  stageNewOutgoing(transaction, {
    id: `webhook/${eventId}/${webhookId}${own}`,
    kind: DELIVERY_KIND,
    destination: `${orgId}/${domainTag(new URL(url).hostname)}`,
    payload,
    dueMs: nowMs,
  });
}

/**
 * As stageDelivery(), of one attempt outside the schedule.
 * @param org as the transaction has it
 * @throws RelayError `rate_limited`
 */
export function stageSingle(
  transaction: Transaction,
  org: OrgRecord,
  webhook: WebhookRecord,
  event: DeliveredEvent,
  random: (sizeBytes: number) => Uint8Array,
): void {
  if (webhook.single >= MOST_SINGLE) {
    throw rateLimited(
      `at most ${MOST_SINGLE} tests and redeliveries of a webhook wait at one time; wait for those that are under way`,
      SINGLE_RETRY_MS,
    );
  }
  const webhookSingles = admitOrRefuse(
    org.webhookSingles ?? [],
    transaction.nowMs,
    SINGLES_RULE,
    (waitMs) =>
      rateLimited(`at most ${SINGLES_AN_HOUR} tests and redeliveries of an org an hour`, waitMs),
  );
  transaction.putRecord(orgKey(org.id), { ...org, webhookSingles });
  transaction.putRecord(webhookKey(webhook.orgId, webhook.id), {
    ...webhook,
    single: webhook.single + 1,
  });
  stageDelivery(transaction, webhook, event, { random });
}
