/** Which events a change of a recipient raises (docs/mail.md, "Events: when"). Pure. */
import type { EventType } from "../../records/event_record.ts";
import type { MessageRow, RecipientStatus } from "../../records/message_record.ts";
import type { Trigger } from "../../mailbox/statuses/recipient_status.ts";

const OF_STATUS: Partial<Record<RecipientStatus, EventType>> = {
  delivered: "message.delivered",
  deferred: "message.deferred",
  bounced: "message.bounced",
  complained: "message.complained",
  failed: "message.failed",
};

/** All that a change may raise. */
export const OUTCOME_EVENTS: readonly EventType[] = ["message.sent", ...Object.values(OF_STATUS)];

/** Who is reported of must have been sent to, whatever the next hop said at the time. */
const TAKEN_BY: readonly Trigger[] = [
  "accepted",
  "reported_delivered",
  "reported_bounced",
  "complained",
];
const TAKEN: readonly RecipientStatus[] = ["sent", "delivered", "complained"];

/**
 * A message that a recipient was changed of, with how far it has left.
 * @param trigger what changed it
 */
export function withDeparture(row: MessageRow, trigger: Trigger): MessageRow {
  const isBegun = row.departure !== undefined || TAKEN_BY.includes(trigger);
  const departure = departureOf(isBegun ? { departure: "begun", ...row } : row);
  return departure === undefined ? row : { ...row, departure };
}

/**
 * Rows of former versions say nothing of it. A deferred recipient who is tried again counts as deferred: its
 * row tells no other, and it may be tried for a day.
 */
function departureOf(
  { departure, recipients }: Pick<MessageRow, "departure" | "recipients">,
): MessageRow["departure"] {
  const isBegun = departure !== undefined ||
    recipients.some(({ status }) => TAKEN.includes(status));
  if (departure === "over" || !isBegun) return departure;
  return recipients.some(({ status }) => status === "queued") ? "begun" : "over";
}

/**
 * What a change of one recipient raises, in the order of the events' ids.
 * @param after as withDeparture() leaves it
 */
export function outcomeEvents(
  before: MessageRow,
  after: MessageRow,
  recipient: number,
): EventType[] {
  const [from, to] = [before, after].map(({ recipients }) => recipients[recipient]!.status);
  const own = from === to ? undefined : OF_STATUS[to!];
  const hasLeft = departureOf(before) !== "over" && after.departure === "over";
  return [...(hasLeft ? ["message.sent"] as const : []), ...(own === undefined ? [] : [own])];
}
