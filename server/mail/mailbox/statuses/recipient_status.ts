/**
 * How it stands with one recipient, and what brings it on (docs/mail.md). Pure.
 *
 * "sending" is not stored: it is what a recipient is while a process holds its row of the outgoing
 * queue, or has handed the content over without knowing the outcome.
 */
import type { FailureReason, Recipient, RecipientStatus } from "../../records/message_record.ts";
import { NO_REPLY, type ReplyDetails } from "./classify_reply.ts";

export type Trigger =
  /** Leased and due. */
  | "begun"
  /** The final reply is 2xx. */
  | "accepted"
  /** 4xx at any point, a 5xx before MAIL, or no connection. */
  | "deferred"
  /** 5xx at RCPT, DATA or the end of the data. */
  | "refused"
  /** 5xx at MAIL. */
  | "sender_refused"
  /** The lease is over before the content may have left. */
  | "dropped"
  /** The lease is over, or the connection lost, when the content may have left: unknown. */
  | "lost"
  | "suppressed"
  /** 24 hours have passed. */
  | "expired"
  /** A report or an event says so. */
  | "reported_delivered"
  | "reported_bounced"
  | "complained";

/** Where a recipient stands; failures of unknown outcome are kept apart from the others. */
type Stage = RecipientStatus | "failed_unknown";

const UNKNOWN = "failed_unknown" as const;

/** Which recipients each trigger brings on, and to what; it changes nothing of the others. */
const WAYS: Readonly<Record<Trigger, readonly [from: readonly Stage[], to: Stage]>> = {
  begun: [["queued", "deferred"], "sending"],
  accepted: [["sending"], "sent"],
  deferred: [["sending"], "deferred"],
  refused: [["sending"], "bounced"],
  sender_refused: [["sending"], "failed"],
  dropped: [["sending"], "queued"],
  lost: [["sending"], UNKNOWN],
  suppressed: [["queued", "deferred"], "failed"],
  expired: [["queued", "deferred"], "failed"],
  reported_delivered: [["sending", "deferred", UNKNOWN, "sent"], "delivered"],
  reported_bounced: [["sending", "deferred", UNKNOWN, "sent", "delivered"], "bounced"],
  complained: [["sending", "deferred", UNKNOWN, "sent", "delivered"], "complained"],
};

const REASONS: Partial<Record<Trigger, FailureReason>> = {
  refused: "refused",
  reported_bounced: "refused",
  sender_refused: "sender_refused",
  lost: "unknown",
  suppressed: "suppressed",
};

/** The least that decides what comes next. */
export type RecipientState = Pick<Recipient, "status" | "reason" | "smtpCode">;

function stageOf({ status, reason }: RecipientState): Stage {
  return status === "failed" && reason === "unknown" ? UNKNOWN : status;
}

/** Where a trigger brings a recipient; null where it changes nothing. */
export function nextStatus(
  state: RecipientState,
  trigger: Trigger,
): Pick<Recipient, "status" | "reason"> | null {
  if (!WAYS[trigger][0].includes(stageOf(state))) return null;
  const reason = trigger === "expired" ? expiryReason(state) : REASONS[trigger] ?? null;
  return { status: statusBy(trigger), reason };
}

/** The status of a recipient that a trigger has brought on. */
export function statusBy(trigger: Trigger): RecipientStatus {
  const [, to] = WAYS[trigger];
  return to === UNKNOWN ? "failed" : to;
}

/** A deferred recipient whose last answer was a 5xx: it came before MAIL, all later ones are final. */
function expiryReason({ status, smtpCode }: RecipientState): FailureReason {
  const isRefused = status === "deferred" && smtpCode !== null && smtpCode >= 500;
  return isRefused ? "next_hop_refused" : "expired";
}

/** Whether nothing but a report can change it any more: no attempt is made. */
export function isFinal({ status }: Pick<Recipient, "status">): boolean {
  return status !== "queued" && status !== "sending" && status !== "deferred";
}

/** Whether a trigger is what a row of the outgoing queue comes to without being sent. */
export function isWithoutAttempt(trigger: Trigger): boolean {
  return trigger === "suppressed" || trigger === "expired";
}

/** What happened to a recipient. */
export interface RecipientEvent {
  trigger: Trigger;
  /** What the other side said; what was said before stays where it said nothing, as in an event. */
  said?: ReplyDetails;
  /** Attempts so far, this one included. */
  attempts?: number;
  /** When the next attempt is due; null for none. */
  nextAttemptAtMs?: number | null;
  /** When it happened, if not just now, unix ms. */
  atMs?: number;
  /** Whether a refusal says that the address does not exist. */
  isHard?: boolean;
}

/**
 * A recipient after an event.
 * @param isSending whether its row of the outgoing queue is held, or its content may have left
 * @returns null where the event changes nothing
 */
export function afterEvent(
  recipient: Recipient,
  { trigger, said, attempts, nextAttemptAtMs = null, atMs = Infinity }: RecipientEvent,
  { nowMs, isSending }: { nowMs: number; isSending: boolean },
): Recipient | null {
  const status = isSending && nextStatus(recipient, "begun")?.status || recipient.status;
  const next = nextStatus({ ...recipient, status }, trigger);
  if (next === null) return null;
  // What an attempt was last told stays with what expires; all else forgets an earlier refusal.
  const kept = trigger === "expired" || trigger === "complained" ? recipient : NO_REPLY;
  const { smtpCode, enhancedCode, detail } = said ?? kept;
  return {
    ...recipient,
    ...next,
    smtpCode,
    enhancedCode,
    detail,
    attempts: attempts ?? recipient.attempts,
    nextAttemptAtMs: next.status === "deferred" ? nextAttemptAtMs : null,
    atMs: Math.min(Math.max(atMs, recipient.atMs), nowMs),
  };
}
