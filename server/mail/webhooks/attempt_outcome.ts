/** What follows from one attempt of a delivery (docs/mail.md, "Deliveries"). Pure but for the random byte. */
import type { OutsideAnswer } from "../../base/outside/outside.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import type { WebhookRecord } from "../records/webhook_record.ts";

/** After each attempt but the last. */
const WAITS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  DAY_MS,
];
/** Then an event is given up. */
export const MOST_ATTEMPTS = WAITS_MS.length + 1;
export const LONGEST_WAIT_MS = DAY_MS;
/** By so much a wait is longer at most, so that what failed together spreads out. */
const JITTER = 0.1;

const GONE = 410;
/** A webhook without a success is disabled after so long and so many attempts, or when so many wait. */
const FAILING_MS = 5 * DAY_MS;
const FAILING_ATTEMPTS = 10;
export const MOST_PENDING = 10_000;

/** An attempt whose request may have left. */
export interface MadeAttempt {
  /** Which one of the event it is, from 1. */
  attempt: number;
  atMs: number;
  answer: OutsideAnswer;
}

export function isDelivered({ status, error }: Pick<OutsideAnswer, "status" | "error">): boolean {
  return error === null && status !== null && status >= 200 && status <= 299;
}

/**
 * How long a delivery waits after an attempt, ms: never less than written or asked for, and at most 24 h.
 * @param attempts made so far; null of the last one
 */
export function waitAfterMs(
  attempts: number,
  { retryAfterMs }: Pick<OutsideAnswer, "retryAfterMs">,
  random: (sizeBytes: number) => Uint8Array,
): number | null {
  const fullMs = WAITS_MS[attempts - 1];
  if (fullMs === undefined) return null;
  const spreadMs = fullMs * (1 + JITTER * random(1)[0]! / 256);
  return Math.min(LONGEST_WAIT_MS, Math.ceil(Math.max(spreadMs, retryAfterMs ?? 0)));
}

/** A webhook after an attempt; what failed before it was disabled stays. */
export function afterAttempt(
  webhook: WebhookRecord,
  { atMs, answer }: MadeAttempt,
  livedMs: number,
): WebhookRecord {
  const isActive = webhook.disabledReason === null;
  if (isDelivered(answer)) {
    const lastSuccessAtMs = Math.max(atMs, webhook.lastSuccessAtMs ?? 0);
    return isActive
      ? { ...webhook, lastSuccessAtMs, consecutiveFailures: 0, failingSince: null }
      : { ...webhook, lastSuccessAtMs };
  }
  const { status, error } = answer;
  const lastFailure = { atMs, status, error };
  return isActive
    ? {
      ...webhook,
      lastFailure,
      consecutiveFailures: webhook.consecutiveFailures + 1,
      failingSince: webhook.failingSince ?? { atMs, livedMs },
    }
    : { ...webhook, lastFailure };
}

/**
 * Why an active webhook is disabled now; null where it is not. Neither a clock that leaps nor a relay that
 * was off for days disables one: both the wall and what the store has lived must say so.
 */
export function whyDisabled(
  { failingSince, consecutiveFailures, pending, disabledReason }: WebhookRecord,
  status: number | null,
  { nowMs, livedMs }: { nowMs: number; livedMs: number },
): NonNullable<WebhookRecord["disabledReason"]> | null {
  if (disabledReason !== null) return null;
  if (status === GONE) return "gone";
  if (pending > MOST_PENDING) return "failing";
  const isFailing = failingSince !== null && consecutiveFailures >= FAILING_ATTEMPTS &&
    nowMs - failingSince.atMs >= FAILING_MS && livedMs - failingSince.livedMs >= FAILING_MS;
  return isFailing ? "failing" : null;
}
