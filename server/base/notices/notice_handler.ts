/**
 * How mails of the relay itself are delivered. Every attempt reads again what to say. An unknown outcome is
 * never repeated: a second mail is worse than a missing one.
 */
import { isDeferral, type Mailer, type MailOutcome, type OutgoingMail } from "../mailer/mailer.ts";
import { givenUpAtMs, isGivenUp } from "../outgoing/given_up_at.ts";
import type {
  AttemptOutcome,
  OutgoingHandler,
  OutgoingItem,
} from "../outgoing/outgoing_handler.ts";
import type { Store } from "../storage/rows/store.ts";
import { MINUTE_MS } from "../time/time_units.ts";
import { handOver } from "./hand_over.ts";
import { longestWaitMs, retryWaitMs, type RetryWaits } from "./retry_waits.ts";

/** What the outgoing queue keeps of a notice beyond its subject; address and words are made when it is sent. */
export interface NoticePayload {
  v: 1;
  /** Left of the @ of the Message-ID, the same at every attempt. */
  messageId: string;
  /** How often the next hop refused it permanently. */
  refusals: number;
}

export function newNotice(random: (sizeBytes: number) => Uint8Array): NoticePayload {
  return { v: 1, messageId: random(16).toHex(), refusals: 0 };
}

export interface NoticeServices {
  store: Store;
  mailer: Mailer;
  /** The relay's sender (RELAY_MAIL_FROM). */
  from: { name: string; address: string };
}

/** For mails that a person waits for. */
const WAITS: RetryWaits = {
  waitsMs: [10_000, 30_000, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS],
};
/** Some servers call temporary refusals permanent. */
const MAX_REFUSALS = 3;

export interface Notices<P, T>
  extends Pick<OutgoingHandler<P>, "kind" | "concurrency" | "partiesOf" | "extraWrites"> {
  /** As for mails that a person waits for, unless given. */
  waits?: RetryWaits;
  /** The longest wait for another reason. */
  longestPauseMs?: number;
  /** After so many permanent refusals it is given up; 3 unless given. */
  maxRefusals?: number;
  /** How long it is tried, whyever it failed; as long as it is wanted unless given. */
  triedMs?: number;
  /** How long the next hop may refuse this very mail temporarily; as long as it is wanted unless given. */
  refusedMs?: number;
  /** What to say as things stand, or the outcome of the row instead. */
  read(item: OutgoingItem<P>): Promise<T | AttemptOutcome<P>>;
  compose(told: T, item: OutgoingItem<P>): Promise<Omit<OutgoingMail, "from">>;
  /** As handOver() asks. */
  withdraw?(told: T, item: OutgoingItem<P>): Promise<AttemptOutcome<P> | null>;
}

/** What the outgoing queue does with one kind of notice. */
export function noticeHandler<P extends { v: 1; refusals?: number }, T extends object>(
  { store, mailer, from }: NoticeServices,
  notices: Notices<P, T>,
): OutgoingHandler<P> {
  const { kind, concurrency, partiesOf, extraWrites, waits = WAITS } = notices;
  return {
    kind,
    concurrency,
    partiesOf,
    oneNextHop: true,
    longestPauseMs: Math.max(notices.longestPauseMs ?? 0, longestWaitMs(waits)),
    extraWrites,
    async attempt(item) {
      const { triedMs } = notices;
      if (triedMs !== undefined && isGivenUp(item, since(item, triedMs), store)) {
        return { result: "dead", reason: "expired", untried: true };
      }
      const told = await notices.read(item);
      if (isOutcome(told)) return told;
      const mail = { from: from.address, ...await notices.compose(told, item) };
      return await handOver(mailer, mail, item, {
        withdraw: async () => await notices.withdraw?.(told, item) ?? null,
        settle: (outcome) => settle(notices, item, outcome, store),
      });
    },
  };
}

/** Outcome of a mail whose facts have changed meanwhile: it is read again at once. */
export function hasChanged(reason: string): AttemptOutcome<never> {
  return { result: "retry", reason, afterMs: 0, untried: true };
}

/** Nothing that is told has a `result`. */
function isOutcome<P, T extends object>(
  told: T | AttemptOutcome<P>,
): told is AttemptOutcome<P> {
  return "result" in told;
}

const since = ({ queuedAtMs: fromMs }: Pick<OutgoingItem, "queuedAtMs">, lengthMs: number) => ({
  fromMs,
  lengthMs,
});

function settle<P extends { v: 1; refusals?: number }, T>(
  { waits = WAITS, maxRefusals = MAX_REFUSALS, triedMs, refusedMs }: Notices<P, T>,
  item: OutgoingItem<P>,
  outcome: MailOutcome,
  store: Store,
): AttemptOutcome<P> {
  if (outcome.result === "sent") return { result: "done" };
  const { reason } = outcome;
  if (outcome.result === "unknown") return { result: "unknown", reason: `unknown: ${reason}` };
  const { payload, attempts } = item;
  const isAboutMail = outcome.stage === "recipient" || outcome.stage === "content";
  const isRefused = isAboutMail && outcome.permanent;
  const refusals = (payload.refusals ?? 0) + (isRefused ? 1 : 0);
  if (refusals >= maxRefusals) return { result: "dead", reason: `refused: ${reason}` };
  if (isAboutMail && refusedMs !== undefined && isGivenUp(item, since(item, refusedMs), store)) {
    return { result: "dead", reason: `expired: ${reason}` };
  }
  return {
    result: "retry",
    reason,
    afterMs: retryWaitMs(waits, attempts, store),
    unreachable: outcome.stage === "connection",
    deferred: isDeferral(outcome),
    ...(isRefused && { payload: { ...payload, refusals } }),
    ...(triedMs && { endsAtMs: givenUpAtMs(item, since(item, triedMs), store) }),
  };
}
