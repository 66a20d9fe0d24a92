/** How much mail an inbox takes in an hour (docs/api.md, "Limits"). Pure. */
import type { Limits } from "../../base/config/limits.ts";
import { admit } from "../../base/bounds/rate_window.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import type { MailboxRecord } from "../records/mailbox_record.ts";

export type ReceivedRates = Pick<MailboxRecord, "received" | "receivedBytes">;

export interface RateRequest {
  /** Size of the raw message. */
  bytes: number;
  isTrial: boolean;
  nowMs: number;
  limits: Pick<
    Limits,
    | "mailInboundPerInboxPerHour"
    | "mailInboundPerTrialInboxPerHour"
    | "mailInboundBytesPerInboxPerHour"
  >;
}

/** Messages that an inbox takes in an hour. */
export function messagesAnHour(
  isTrial: boolean,
  limits: Pick<Limits, "mailInboundPerInboxPerHour" | "mailInboundPerTrialInboxPerHour">,
): number {
  return isTrial ? limits.mailInboundPerTrialInboxPerHour : limits.mailInboundPerInboxPerHour;
}

/** Every commit of a mailbox writes its windows: whatever the limits, they stay at some 600 pairs. */
const BUCKET_MS = HOUR_MS / 600;

/** @returns the windows with one message more, or the ms until one is taken again */
export function admitReceived(
  { received, receivedBytes }: ReceivedRates,
  { bytes, isTrial, nowMs, limits }: RateRequest,
): ReceivedRates | { retryAfterMs: number } {
  const limit = messagesAnHour(isTrial, limits);
  const rule = { windowMs: HOUR_MS, bucketMs: BUCKET_MS };
  const count = admit(received, nowMs, { ...rule, limit });
  if ("retryAfterMs" in count) return count;
  const bytesLimit = limits.mailInboundBytesPerInboxPerHour;
  const sum = admit(receivedBytes, nowMs, { ...rule, limit: bytesLimit }, bytes);
  if ("retryAfterMs" in sum) return sum;
  return { received: count.window, receivedBytes: sum.window };
}
