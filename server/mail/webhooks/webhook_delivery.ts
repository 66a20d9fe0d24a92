/**
 * Delivers events to webhooks: an attempt is one request, whose outcome is stored in one commit with the
 * end of its row of the queue, or with its next due time. A process that dies in between leaves the row,
 * and delivers again: the webhook-id tells the receiver (docs/adr/0062).
 */
import { BlobDamaged, type Blobs } from "../../base/blobs/blobs.ts";
import type { Limits } from "../../base/config/limits.ts";
import type {
  AttemptOutcome,
  OutgoingHandler,
  OutgoingItem,
} from "../../base/outgoing/outgoing_handler.ts";
import type { Outside } from "../../base/outside/outside.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { eventKeyOf, type EventRow } from "../records/event_record.ts";
import { inboxKey, type InboxRecord } from "../records/inbox_record.ts";
import { makeMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import {
  attemptKey,
  type AttemptRow,
  type DeliveredEvent,
  DELIVERY_KIND,
  type DeliveryPayload,
  KEPT_ATTEMPTS,
  webhookKey,
  type WebhookRecord,
} from "../records/webhook_record.ts";
import { partiesOf } from "../mailbox/statuses/queued_mail.ts";
import {
  afterAttempt,
  isDelivered,
  LONGEST_WAIT_MS,
  type MadeAttempt,
  waitAfterMs,
  whyDisabled,
} from "./attempt_outcome.ts";
import { stageDisabling } from "./disabled_notice.ts";
import type { WebhookSecrets } from "./webhook_secrets.ts";

export interface WebhookDeliveryOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  blobs: Pick<Blobs, "read">;
  limits: Pick<Limits, "mailTrialPurgeDays">;
  random: (sizeBytes: number) => Uint8Array;
  secrets: Pick<WebhookSecrets, "sign">;
  /** Null: nothing is delivered any more, and what waits is dropped. */
  outside: Pick<Outside, "post"> | null;
}

/** Requests at one time; the shares of orgs and hosts (shares.ts) keep those that hang from having all. */
const CONCURRENCY = 32;
/** What cannot be attempted now, for no reason of the receiver's, is looked at again after this. */
const LOOKED_AT_AGAIN_MS = 5 * MINUTE_MS;

type Item = OutgoingItem<DeliveryPayload>;
type Outcome = AttemptOutcome<DeliveryPayload>;

/** What the outgoing queue does with deliveries. */
export function webhookDelivery(
  options: WebhookDeliveryOptions,
): OutgoingHandler<DeliveryPayload> {
  return {
    kind: DELIVERY_KIND,
    concurrency: CONCURRENCY,
    partiesOf,
    longestPauseMs: LONGEST_WAIT_MS,
    attempt: (item) => attempt(options, item),
    async extraWrites({ payload, result, dueMs, note }) {
      const made = note as MadeAttempt | undefined;
      const isEnd = result !== "retry";
      if (made === undefined && !isEnd) return null;
      // What it answered may repeat an event that was erased while it answered.
      const isErased = made !== undefined && await readEvent(options, payload) === null;
      const response = made === undefined || isErased ? "" : textOf(made);
      return (transaction) =>
        stageOutcome(transaction, options, payload, { made, response, isEnd, dueMs });
    },
  };
}

async function attempt(options: WebhookDeliveryOptions, item: Item): Promise<Outcome> {
  const { store, random, secrets, outside } = options;
  const { payload, signal } = item;
  if (outside === null) return dropped("webhooks are off");
  const found = await readWanted(options, payload);
  if ("result" in found) return found;
  const { webhook, body } = found;
  const atMs = store.now();
  const headers = {
    "content-type": "application/json",
    ...await secrets.sign(webhook, payload.eventId, body, atMs),
  };
  const answer = await outside.post({ url: webhook.url, headers, body, signal })
    .catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
  if (answer === null) return { ...later("not finished"), afterMs: 0 };
  // Attempts that a dead process or a failing store kept from being made are none of the ten.
  const made = (payload.made ?? 0) + 1;
  const note: MadeAttempt = { attempt: made, atMs, answer };
  if (isDelivered(answer)) return { result: "done", note };
  const reason = answer.error ?? String(answer.status);
  const waitMs = payload.isSingle || answer.status === 410
    ? null
    : waitAfterMs(made, answer, random);
  // Given up: the log has it, and the queue need not.
  if (waitMs === null) return { result: "done", note };
  return { result: "retry", reason, afterMs: waitMs, payload: { ...payload, made }, note };
}

/** The webhook and the bytes for it; else what becomes of the row. */
async function readWanted(
  options: WebhookDeliveryOptions,
  payload: DeliveryPayload,
): Promise<{ webhook: WebhookRecord; body: Uint8Array } | Outcome> {
  const { store, records, blobs, limits } = options;
  const { orgId, webhookId, epoch, isSingle } = payload;
  const { inboxId } = payload;
  const [org, inbox, webhook, event] = await Promise.all([
    records.read<OrgRecord>(orgKey(orgId)),
    inboxId === "" ? null : records.read<InboxRecord>(inboxKey(orgId, inboxId)),
    records.read<WebhookRecord>(webhookKey(orgId, webhookId)),
    readEvent(options, payload),
  ]);
  if (org === null || orgState(org, store.now(), limits) === "gone") return dropped("deleted");
  // What is left of a deleted inbox is erased after its record.
  if (webhook === null || inbox === null && inboxId !== "") return dropped("deleted");
  if (!isSingle && webhook.epoch !== epoch) return dropped("disabled");
  if (event === null) return dropped("the event was erased");
  if (org.suspendedAtMs !== null) return later("the org is suspended");
  if (event === "test") return { webhook, body: testBody(payload) };
  try {
    return { webhook, body: await blobs.read(event.body!, 0) };
  } catch (error) {
    // Its operator may bring the bytes back; nothing was tried that the receiver could be told.
    if (error instanceof BlobDamaged) return later("stored bytes are damaged");
    throw error;
  }
}

const dropped = (reason: string): Outcome => ({ result: "dropped", reason });
const later = (reason: string) => ({
  result: "retry" as const,
  reason,
  afterMs: LOOKED_AT_AGAIN_MS,
  untried: true,
});

/** The event with its body; "test" for one that is made anew each time, null for one that has gone. */
async function readEvent(
  { store }: Pick<WebhookDeliveryOptions, "store">,
  event: DeliveredEvent,
): Promise<EventRow | "test" | null> {
  if (event.type === "webhook.test") return "test";
  const { value } = await store.get<EventRow>(eventKeyOf(event));
  return value === null || value.body === null ? null : value;
}

/** The same bytes at each attempt. */
function testBody({ eventId, type, createdAtMs, orgId }: DeliveredEvent): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({
    id: eventId,
    type,
    timestamp: timestamp(createdAtMs),
    org_id: orgId,
    inbox_id: null,
    data: {},
  }));
}

const textOf = ({ answer: { body } }: MadeAttempt): string => new TextDecoder().decode(body);

interface StoredOutcome {
  /** Absent where no request left. */
  made: MadeAttempt | undefined;
  response: string;
  /** Whether the delivery is over. */
  isEnd: boolean;
  dueMs: number | null;
}

/** Log, counters and what disables the webhook: nothing of one that has gone, or was disabled meanwhile. */
function stageOutcome(
  transaction: Transaction,
  { random }: Pick<WebhookDeliveryOptions, "random">,
  payload: DeliveryPayload,
  { made, response, isEnd, dueMs }: StoredOutcome,
): void {
  const { orgId, webhookId, epoch, isSingle } = payload;
  const key = webhookKey(orgId, webhookId);
  const before = transaction.record(key);
  if (before === null || !isSingle && before.epoch !== epoch) return;
  const ended = !isEnd
    ? {}
    : isSingle
    ? { single: Math.max(0, before.single - 1) }
    : { pending: Math.max(0, before.pending - 1) };
  const counted = { ...before, ...ended };
  if (made === undefined) return transaction.putRecord(key, counted);
  const { nowMs, livedMs } = transaction;
  const n = before.sequence;
  const webhook = { ...afterAttempt(counted, made, livedMs), sequence: n + 1 };
  const why = whyDisabled(webhook, made.answer.status, { nowMs, livedMs });
  const { inboxId, objectId, eventId, type, createdAtMs } = payload;
  const row: AttemptRow = {
    v: 1,
    id: makeMailId("dlv", made.atMs, random),
    orgId,
    inboxId,
    objectId,
    eventId,
    type,
    createdAtMs,
    attempt: made.attempt,
    atMs: made.atMs,
    durationMs: Math.round(made.answer.durationMs),
    status: made.answer.status,
    error: made.answer.error,
    response,
    nextAttemptAtMs: why === null ? dueMs : null,
  };
  transaction.set(attemptKey(orgId, webhookId, n), row);
  if (n >= KEPT_ATTEMPTS) transaction.delete(attemptKey(orgId, webhookId, n - KEPT_ATTEMPTS));
  transaction.putRecord(key, webhook);
  if (why !== null) stageDisabling(transaction, webhook, why, random);
}
