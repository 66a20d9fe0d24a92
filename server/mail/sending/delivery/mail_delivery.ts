/**
 * Delivers outbound messages, one transaction a recipient. Every attempt reads again whether the mail is
 * still wanted; what it carries are the bytes that were stored when the message was accepted. What an
 * attempt brought is stored in one commit with the end of its row of the queue, or with its next due
 * time: a process that dies leaves a row, and with it the truth.
 */
import { BlobDamaged } from "../../../base/blobs/blobs.ts";
import type { Blobs } from "../../../base/blobs/blobs.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { givenUpAtMs } from "../../../base/outgoing/given_up_at.ts";
import { isDeferral, type Mailer, type MailOutcome } from "../../../base/mailer/mailer.ts";
import { handOver } from "../../../base/notices/hand_over.ts";
import { longestWaitMs, retryWaitMs } from "../../../base/notices/retry_waits.ts";
import type {
  AttemptOutcome,
  OutgoingHandler,
  OutgoingItem,
} from "../../../base/outgoing/outgoing_handler.ts";
import { domainOf } from "../../../base/outgoing/recipient_domain.ts";
import type { SmtpReply } from "../../../base/mailer/smtp_reply.ts";
import { unwanted } from "../../../base/outgoing/unwanted.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { MINUTE_MS } from "../../../base/time/time_units.ts";
import { isListed } from "../../mailbox/inboxes/address_list.ts";
import type { Mailboxes } from "../../core/mailboxes.ts";
import { inboxKey, type InboxRecord, listKey } from "../../records/inbox_record.ts";
import { type MessageRow, RAW, type Recipient } from "../../records/message_record.ts";
import { orgKey, type OrgRecord, orgState } from "../../records/org_record.ts";
import { suppressionKey } from "../../mailbox/suppressions/suppressions.ts";
import { outcomeEvent } from "./outcome_event.ts";
import {
  INSIDE_MAIL_KIND,
  MAIL_KIND,
  type MailPayload,
  partiesOf,
} from "../../mailbox/statuses/queued_mail.ts";
import type { RecipientChanges } from "../../receiving/reports/recipient_changes.ts";
import {
  isFinal,
  isWithoutAttempt,
  type RecipientEvent,
} from "../../mailbox/statuses/recipient_status.ts";
import { MAIL_WAITS, TRIED_MS, triedFromMs } from "../../mailbox/statuses/retry_times.ts";

/** Delivers to an inbox of this relay; what it stored once it may be given again. */
export type DeliverInside = (mail: {
  /** Envelope sender. */
  from: string;
  /** Recipient, at the relay's domain. */
  to: string;
  raw: Uint8Array;
}) => Promise<SmtpReply>;

export interface MailDeliveryOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  mailboxes: Pick<Mailboxes, "withLock">;
  blobs: Pick<Blobs, "read">;
  changes: RecipientChanges;
  limits: Pick<Limits, "mailTrialPurgeDays">;
  mailer: Mailer;
  /** Domain of all inboxes, lowercased. */
  domain: string;
  /** The envelope sender of a recipient's mail. */
  envelopeSender(messageId: string, recipient: number): Promise<string>;
  deliverInside: DeliverInside;
  /** Concurrent mails for the next hop: its connections, less those kept for notices. */
  concurrency: number;
}

/** Concurrent mails for inboxes of this relay: the receiver writes them, whatever the next hop does. */
const INSIDE_CONCURRENCY = 4;

/** A suspended org's mail is looked at again after this. */
const SUSPENDED_MS = 5 * MINUTE_MS;
/** Whether a mail is still wanted is asked again before its content where that took longer. */
const FRESH_MS = 1_000;

/** What an attempt says of itself to extraWrites(): the event, in the queue's words, and when it is given up. */
type Note = RecipientEvent & { endsAtMs?: number };

/** What is read of a mail that is to be sent now. */
interface Wanted {
  row: MessageRow;
  recipient: Recipient;
}

/** What the outgoing queue does with the mails of inboxes: for the next hop, and for inboxes of its own. */
export function mailDelivery(options: MailDeliveryOptions): OutgoingHandler<MailPayload>[] {
  const { concurrency } = options;
  const rest = restOfDelivery(options);
  return [
    { ...rest, kind: MAIL_KIND, concurrency, oneNextHop: true },
    { ...rest, kind: INSIDE_MAIL_KIND, concurrency: INSIDE_CONCURRENCY },
  ];
}

function restOfDelivery(
  options: MailDeliveryOptions,
): Omit<OutgoingHandler<MailPayload>, "kind" | "concurrency"> {
  const { changes, mailboxes } = options;
  return {
    partiesOf,
    longestPauseMs: longestWaitMs(MAIL_WAITS),
    triedMs: TRIED_MS,
    attempt: (item) => attempt(options, item),
    async extraWrites({ payload, attempts, result, dueMs, note }, reads) {
      if (note !== undefined) {
        const { endsAtMs = Infinity, ...event } = note as Note;
        // No attempt is made when the time is over.
        const isLast = result === "retry" && dueMs !== null && dueMs >= endsAtMs;
        const nextAttemptAtMs = isLast ? null : dueMs;
        // What ends without an attempt was leased for one all the same.
        const counted = isWithoutAttempt(event.trigger) ? {} : { attempts };
        return await changes.extraWrites(payload, { ...event, ...counted, nextAttemptAtMs }, reads);
      }
      // The process that sent it has died, or does not know itself.
      if (result !== "unknown") return null;
      return await changes.extraWrites(payload, { trigger: "lost", attempts }, reads);
    },
    withLock: ({ orgId, inboxId }, work) => mailboxes.withLock(orgId, inboxId, work),
  };
}

type Item = OutgoingItem<MailPayload>;

async function attempt(
  options: MailDeliveryOptions,
  item: Item,
): Promise<AttemptOutcome<MailPayload>> {
  const { store, blobs, mailer, domain, envelopeSender, deliverInside } = options;
  const { payload } = item;
  const readMs = store.now();
  const wanted = await readWanted(options, item);
  if ("result" in wanted) return wanted;
  const { row, recipient } = wanted;
  const raw = await readRaw(blobs, row);
  const again = () => {
    const endsAtMs = endsAtOf(row, item, store);
    const retryMs = retryWaitMs(MAIL_WAITS, item.attempts, store);
    return { afterMs: Math.max(1, Math.min(retryMs, endsAtMs - store.now())), endsAtMs };
  };
  if (raw === null) {
    // Its operator may bring the bytes back; nothing was tried that the recipient could be told.
    return { result: "retry", reason: "stored bytes are damaged", ...again() };
  }
  const from = await envelopeSender(row.id, payload.recipient);
  const { address: to } = recipient;
  // Former versions queued these for the next hop too.
  if (domainOf(to) === domain) {
    const reply = await deliverInside({ from, to, raw });
    return afterwards(insideOutcome(reply), again());
  }
  const mail = { from, to, content: raw, use: "mail" } as const;
  return await handOver(mailer, mail, item, {
    async withdraw() {
      if (store.now() - readMs <= FRESH_MS) return null;
      const current = await readWanted(options, item);
      return "result" in current ? current : null;
    },
    settle: (outcome) => afterwards(outcome, again()),
  });
}

/** The mail, if it is to be sent now; else what becomes of its row. */
async function readWanted(
  { store, records, changes, limits }: MailDeliveryOptions,
  item: Item,
): Promise<Wanted | AttemptOutcome<MailPayload>> {
  const { payload } = item;
  const { orgId, inboxId } = payload;
  const [org, inbox, row] = await Promise.all([
    records.read<OrgRecord>(orgKey(orgId)),
    records.read<InboxRecord>(inboxKey(orgId, inboxId)),
    changes.read(payload),
  ]);
  const nowMs = store.now();
  const recipient = row?.recipients[payload.recipient];
  const isGone = org === null || orgState(org, nowMs, limits) === "gone" || inbox === null;
  if (isGone || row === null || recipient === undefined) return unwanted("deleted", store);
  if (row.cancelledAtMs !== null) return dropped("cancelled");
  if (isFinal(recipient)) return dropped("settled");
  const endsAtMs = endsAtOf(row, item, store);
  if (endsAtMs <= nowMs) {
    return { result: "dead", reason: "expired", untried: true, note: event("expired") };
  }
  if (await records.read(suppressionKey(orgId, recipient.address)) !== null) {
    return { ...dropped("suppressed"), note: event("suppressed") };
  }
  // What was to go out later goes to those whom the inbox may write to then.
  if (row.sendAtMs !== null && inbox.lists.includes("allow_send")) {
    const list = await records.read<{ entries: readonly string[] }>(
      listKey(orgId, inboxId, "allow_send"),
    );
    if (!isListed(list?.entries ?? [], recipient.address)) {
      return { ...dropped("not_allowed"), note: event("suppressed") };
    }
  }
  if (org.suspendedAtMs !== null) {
    const afterMs = Math.min(SUSPENDED_MS, endsAtMs - nowMs);
    return { result: "retry", reason: "the org is suspended", afterMs, endsAtMs, untried: true };
  }
  return { row, recipient };
}

/** When a recipient is given up, unix ms. */
function endsAtOf(row: MessageRow, item: Item, store: Store): number {
  return givenUpAtMs(item, { fromMs: triedFromMs(row), lengthMs: TRIED_MS }, store);
}

const dropped = (reason: string): AttemptOutcome<MailPayload> => ({ result: "dropped", reason });
const event = (trigger: RecipientEvent["trigger"]): Note => ({ trigger });

async function readRaw(blobs: Pick<Blobs, "read">, row: MessageRow): Promise<Uint8Array | null> {
  try {
    return await blobs.read(row.blob, RAW, { isLent: true });
  } catch (error) {
    if (error instanceof BlobDamaged) return null;
    throw error;
  }
}

/** A reply of an inbox of ours, as if the next hop had said it. */
function insideOutcome(reply: SmtpReply): MailOutcome {
  if (reply.code < 300) return { result: "sent", reason: `${reply.code} inside`, reply };
  const permanent = reply.code >= 500;
  const reason = `${reply.code} inside`;
  return { result: "refused", stage: "recipient", permanent, reason, reply, isReached: true };
}

/** What the queue does next, and what becomes of the recipient. */
function afterwards(
  outcome: MailOutcome,
  { afterMs, endsAtMs }: { afterMs: number; endsAtMs: number },
): AttemptOutcome<MailPayload> {
  const note = outcomeEvent(outcome);
  const { reason } = outcome;
  switch (note.trigger) {
    case "lost":
      return { result: "unknown", reason: `unknown: ${reason}`, note };
    case "deferred": {
      const unreachable = outcome.result === "refused" && !outcome.isReached;
      const deferred = isDeferral(outcome);
      return {
        result: "retry",
        reason,
        afterMs,
        endsAtMs,
        unreachable,
        deferred,
        note: { ...note, endsAtMs } satisfies Note,
      };
    }
    case "sender_refused":
      return { result: "dead", reason: `refused: ${reason}`, note };
    default:
      return { result: "done", note };
  }
}
