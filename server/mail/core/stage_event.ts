/** Raises an event inside the commit that makes it happen. */
import { stageNewOutgoing } from "../../base/outgoing/outgoing_row.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import {
  EVENT_KIND,
  eventKeyOf,
  type EventName,
  type EventPayload,
  type EventRow,
  type EventSubject,
  type EventType,
} from "../records/event_record.ts";
import { makeUlidAbove } from "../records/mail_id.ts";
import type { OrgRecord } from "../records/org_record.ts";

/**
 * The webhooks of an org that hear an event of an inbox; mostly none. Pure.
 * @param org as the commit finds it
 */
export function hearersOf(
  { webhooks = [] }: Pick<OrgRecord, "webhooks">,
  type: EventType,
  inboxId: string,
): readonly string[] {
  return webhooks
    .filter(({ events, inboxIds, isActive }) =>
      isActive && (events === null || events.includes(type)) &&
      (inboxIds.length === 0 || inboxIds.includes(inboxId))
    )
    .map(({ id }) => id);
}

/**
 * Writes an event for those who hear it, and has its body made once that is committed. Writes nothing
 * where nobody does. It checks no record: the plan has the org's already.
 * @param above the event of the same commit that it comes after, by their ids
 * @returns its id; `above` where nobody hears it
 */
export function stageEvent(
  transaction: Pick<Transaction, "nowMs" | "set" | "announce">,
  org: OrgRecord,
  type: EventType,
  subject: EventSubject,
  random: (sizeBytes: number) => Uint8Array,
  above: string | null = null,
): string | null {
  const { main, beside } = partsOf(subject);
  const { orgId, inboxId } = main;
  const webhookIds = hearersOf(org, type, inboxId);
  if (webhookIds.length === 0) return above;
  const { nowMs } = transaction;
  const least = above?.slice("evt_".length) ?? null;
  const eventId = `evt_${makeUlidAbove(least, nowMs, random)}`;
  const name: EventName = { orgId, inboxId, objectId: main.id, eventId };
  const row: EventRow = { v: 1, type, createdAtMs: nowMs, subject: main, body: null };
  transaction.set(eventKeyOf(name), row);
  const payload: EventPayload = { v: 1, ...name, webhookIds, beside };
  stageNewOutgoing(transaction, {
    id: eventId,
    kind: EVENT_KIND,
    destination: orgId,
    payload,
    dueMs: nowMs,
  });
  return eventId;
}

function partsOf(
  subject: EventSubject,
): { main: NonNullable<EventRow["subject"]>; beside: EventPayload["beside"] } {
  if ("thread" in subject) {
    const { message, thread, recipient } = subject;
    return { main: message, beside: recipient === undefined ? { thread } : { thread, recipient } };
  }
  const { draft, message } = subject;
  return message === undefined
    ? { main: draft, beside: null }
    : { main: message, beside: { draft } };
}
