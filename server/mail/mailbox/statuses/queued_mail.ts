/** What the outgoing queue keeps of an outbound message: a row for each recipient. */
import { CLOCK_SKEW_MS } from "../../../base/time/clock_skew.ts";
import { type NewOutgoing, stageNewOutgoing } from "../../../base/outgoing/outgoing_row.ts";
import { domainOf, domainTag, type Parties } from "../../../base/outgoing/recipient_domain.ts";
import type { Transaction } from "../../../base/storage/commits/job.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../../base/storage/rows/store.ts";
import { DAY_MS } from "../../../base/time/time_units.ts";
import type { MessageRow } from "../../records/message_record.ts";
import { TRIED_MS, triedFromMs } from "./retry_times.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

/** Goes to the next hop. */
export const MAIL_KIND = "mail";
/** Goes to inboxes of this relay. */
export const INSIDE_MAIL_KIND = "mail-inside";

/** Whom a row is for; all else is read when it is sent. */
export interface MailPayload {
  v: 1;
  orgId: string;
  inboxId: string;
  messageId: string;
  /** Index in `recipients`. */
  recipient: number;
}

/** The id of a recipient's row. */
export const mailRowId = (messageId: string, recipient: number): string =>
  `mail/${messageId}/${recipient}`;

export interface SentRow {
  v: 1;
  orgId: string;
  inboxId: string;
  /** From then on reports are refused, unix ms. */
  untilMs: number;
}
export const sentKey = defineRow<[messageId: string]>(["mail-sent"], 1, {
  holds: "whose message a bounce address names, for as long as it takes reports",
  expires: "30 d",
});

export interface SentIdRow {
  v: 1;
  messageId: string;
}
export const sentIdKey = defineRow<[rfcMessageId: string]>(["mail-sent-id"], 1, {
  holds: "the message that bears a Message-ID, for delivery events",
  expires: "30 d",
});

/** How long reports are taken (docs/mail.md, "Bounces and suppressed addresses"). */
export const REPORTED_MS = 30 * DAY_MS;

/** What the queue knows about the relay. */
export interface QueuingRelay {
  store: Pick<Store, "exclusive" | "lived">;
  /** Of all inboxes, lowercased. */
  domain: string;
}

type Queued = Pick<
  MessageRow,
  "id" | "rfcMessageId" | "orgId" | "inboxId" | "recipients" | "createdAtMs" | "sendAtMs"
>;

/**
 * Queues a mail for each recipient, in the commit that accepts the message and gives it its id.
 * @param row as the commit writes it
 */
export function stageMails(
  transaction: Pick<Transaction, "nowMs" | "attempt" | "set" | "announce">,
  row: Queued,
  relay: QueuingRelay,
): void {
  for (const item of itemsOf(row, relay)) stageNewOutgoing(transaction, item);
  const { orgId, inboxId, id } = row;
  const untilMs = (row.sendAtMs ?? row.createdAtMs) + REPORTED_MS;
  const sent: SentRow = { v: 1, orgId, inboxId, untilMs };
  const keptMs = untilMs - transaction.nowMs + EXPIRY_MARGIN_MS;
  transaction.set(sentKey(id), sent, keptMs);
  const { rfcMessageId } = row;
  if (rfcMessageId === null) return;
  transaction.set(sentIdKey(rfcMessageId), { v: 1, messageId: id } satisfies SentIdRow, keptMs);
}

function itemsOf(row: Queued, { store, domain }: QueuingRelay): NewOutgoing<MailPayload>[] {
  const { id: messageId, orgId, inboxId, sendAtMs } = row;
  // Until its time a message may be cancelled. The clock of no process may be past it by then.
  const dueMs = sendAtMs === null
    ? row.createdAtMs
    : sendAtMs + (store.exclusive ? 0 : CLOCK_SKEW_MS);
  const endsAtMs = triedFromMs(row) + TRIED_MS;
  const livedMs = store.lived();
  return row.recipients.map(({ address }, recipient) => {
    const isInside = domainOf(address) === domain;
    return {
      id: mailRowId(messageId, recipient),
      kind: isInside ? INSIDE_MAIL_KIND : MAIL_KIND,
      destination: isInside ? orgId : `${orgId}/${domainTag(address)}`,
      payload: { v: 1, orgId, inboxId, messageId, recipient },
      dueMs,
      endsAtMs,
      livedMs,
    };
  });
}

/** The parties that a destination names; former versions named the org alone. */
export function partiesOf(destination: string): Parties {
  const at = destination.indexOf("/");
  if (at < 0) return { org: destination };
  return { org: destination.slice(0, at), domain: destination.slice(at + 1) };
}
