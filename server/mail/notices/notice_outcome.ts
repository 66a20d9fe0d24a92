/**
 * What becomes of a mail of the relay itself after an attempt. As with digests an outcome that is
 * unknown is not repeated, and a permanent refusal is tried three times. Pure.
 */
import { isDeferral, type MailOutcome } from "../../base/mailer/mailer.ts";
import type { AttemptOutcome, OutgoingItem } from "../../base/outgoing/outgoing_handler.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";

/** Somebody waits for these mails. The last wait repeats, for as long as the mail is wanted. */
const RETRY_MS = [10_000, 30_000, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS];
/** No wait after an attempt is longer. */
export const LONGEST_NOTICE_WAIT_MS = RETRY_MS.at(-1)!;
const JITTER = 0.1;
const MAX_REFUSALS = 3;

/** @param share from 0 to 1, random: how much of the jitter is taken */
export function noticeOutcome<P extends { refusals: number }>(
  { payload, attempts }: Pick<OutgoingItem<P>, "payload" | "attempts">,
  outcome: MailOutcome,
  share: number,
): AttemptOutcome<P> {
  if (outcome.result === "sent") return { result: "done" };
  const { reason } = outcome;
  if (outcome.result === "unknown") return { result: "unknown", reason: `unknown: ${reason}` };
  const aboutThisMail = outcome.stage === "recipient" || outcome.stage === "content";
  const refusals = payload.refusals + (aboutThisMail && outcome.permanent ? 1 : 0);
  if (refusals >= MAX_REFUSALS) return { result: "dead", reason: `refused: ${reason}` };
  const fullMs = RETRY_MS[Math.min(Math.max(1, attempts), RETRY_MS.length) - 1]!;
  return {
    result: "retry",
    reason,
    afterMs: Math.round(fullMs * (1 - JITTER * share)),
    unreachable: outcome.stage === "connection",
    deferred: isDeferral(outcome),
    payload: { ...payload, refusals },
  };
}
