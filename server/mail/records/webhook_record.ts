/** Webhooks as the store holds them, and as answers show them (docs/mail.md, "Webhooks"). */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import type { SealedSecret } from "../../base/sealing/key_ring.ts";
import { EVENT_TYPES, type EventName, type EventType, type WebhookFilter } from "./event_record.ts";

/** Why an attempt failed where no status says so; null for none. */
export type DeliveryError =
  | "blocked_address"
  | "dns"
  | "tls"
  | "connect"
  | "timeout"
  | "redirect"
  | null;

export interface WebhookRecord extends Omit<WebhookFilter, "isActive"> {
  v: 1;
  orgId: string;
  url: string;
  /** Null while it is active. */
  disabledReason: "gone" | "failing" | null;
  /** The newest first; a former one signs beside it until a time, unix ms. Bound to the webhook's id. */
  secrets: readonly (SealedSecret & { untilMs: number | null })[];
  /** Failed attempts since the last success, and since it was made or enabled. */
  consecutiveFailures: number;
  /** The first of them, by the wall clock and by what the store had lived; null without any. */
  failingSince: { atMs: number; livedMs: number } | null;
  lastSuccessAtMs: number | null;
  lastFailure: { atMs: number; status: number | null; error: DeliveryError } | null;
  /** Deliveries of this epoch that wait. */
  pending: number;
  /** Attempts outside the schedule that wait: tests and redeliveries. */
  single: number;
  /** Raised when it is disabled: what was queued before is dropped. */
  epoch: number;
  /** Number of the next attempt in its log. */
  sequence: number;
  /** Under which it was made, to make it once. */
  clientId: string | null;
  createdAtMs: number;
}

/** ["mail-webhook", orgId, webhookId] */
export const webhookKey = defineRecord<WebhookRecord, [orgId: string, webhookId: string]>(
  ["mail-webhook"],
  2,
  { holds: "a webhook: where it goes, what it hears, sealed secrets, how it stands" },
);

/** An event as deliveries know it. */
export interface DeliveredEvent extends EventName {
  type: EventType;
  createdAtMs: number;
}

/** One attempt, as the log keeps it. */
export interface AttemptRow extends DeliveredEvent {
  v: 1;
  /** `dlv_` and a ULID. */
  id: string;
  /** From 1. */
  attempt: number;
  atMs: number;
  durationMs: number;
  status: number | null;
  error: DeliveryError;
  /** The first 1 KiB of the answer, as text; it may repeat the event, and goes with it. */
  response: string;
  nextAttemptAtMs: number | null;
}

/** Attempts that the log keeps of each webhook. */
export const KEPT_ATTEMPTS = 100;

export const attemptKey = defineRow<[orgId: string, webhookId: string, n: number]>(
  ["mail-webhook-attempt"],
  3,
  { holds: "an attempt of a delivery", expires: "by the hundredth after it" },
);

/** Numbers of the attempts that the log holds. */
export function keptAttempts({ sequence }: Pick<WebhookRecord, "sequence">): number[] {
  const kept = Math.min(KEPT_ATTEMPTS, sequence);
  return Array.from({ length: kept }, (_, i) => sequence - kept + i);
}

/** Kind of the outgoing queue's rows that deliver an event to a webhook. */
export const DELIVERY_KIND = "mail-webhook";

export interface DeliveryPayload extends DeliveredEvent {
  v: 1;
  webhookId: string;
  /** Of the webhook when it was queued. */
  epoch: number;
  /** True for an attempt outside the schedule, whatever the epoch. */
  isSingle: boolean;
  /**
   * Attempts whose outcome is stored; absent for none. The row's own count has those too that a process
   * began and did not live to end, which are no part of the schedule.
   */
  made?: number;
}

/** Where a webhook is known by the commits that raise events. */
export function filterOf(
  { id, events, inboxIds, disabledReason }: WebhookRecord,
): WebhookFilter {
  return { id, events, inboxIds, isActive: disabledReason === null };
}

export function shownWebhook(webhook: WebhookRecord) {
  const { disabledReason, lastSuccessAtMs, lastFailure } = webhook;
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events ?? EVENT_TYPES,
    inbox_ids: webhook.inboxIds,
    status: disabledReason === null ? "active" : "disabled",
    disabled_reason: disabledReason,
    consecutive_failures: webhook.consecutiveFailures,
    last_success_at: lastSuccessAtMs === null ? null : timestamp(lastSuccessAtMs),
    last_failure: lastFailure === null ? null : {
      at: timestamp(lastFailure.atMs),
      status: lastFailure.status,
      error: lastFailure.error,
    },
    created_at: timestamp(webhook.createdAtMs),
  };
}

/** What a key without inbox:read sees of a webhook: a URL may carry what only its maker is to know. */
export function markedWebhook(webhook: WebhookRecord) {
  const { url: _, ...marks } = shownWebhook(webhook);
  return marks;
}

export function shownDelivery(row: AttemptRow) {
  return {
    id: row.id,
    event_id: row.eventId,
    type: row.type,
    attempt: row.attempt,
    at: timestamp(row.atMs),
    duration_ms: row.durationMs,
    status: row.status,
    error: row.error,
    response: row.response,
    next_attempt_at: row.nextAttemptAtMs === null ? null : timestamp(row.nextAttemptAtMs),
  };
}
