/** Events that webhooks tell of (docs/mail.md, "Webhooks"), and what the store holds of them. */
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { DraftRow } from "./draft_record.ts";
import type { MessageRow } from "./message_record.ts";
import type { ThreadRow } from "./thread_record.ts";

/** Types that a webhook may ask for, in the order of the documentation. */
export const EVENT_TYPES = [
  "message.received",
  "message.sent",
  "message.delivered",
  "message.deferred",
  "message.bounced",
  "message.complained",
  "message.failed",
  "draft.created",
  "draft.sent",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What an event tells of, as the commit that made it happen left it. */
export type EventSubject =
  /** `recipient`: index in `message.recipients`, of events of one recipient. */
  | { message: MessageRow; thread: ThreadRow; recipient?: number }
  | { draft: DraftRow; message?: MessageRow };

/** Which events a webhook hears. Kept in the record of its org, which each commit of an event reads. */
export interface WebhookFilter {
  /** `wh_` and a ULID. */
  id: string;
  /** Null for all. */
  events: readonly EventType[] | null;
  /** Empty for all. */
  inboxIds: readonly string[];
  /** False while the webhook is disabled. */
  isActive: boolean;
}

/** Where an event lies: with the message or draft that it tells of, so that it goes with it. */
export interface EventName {
  orgId: string;
  /** "" for a test. */
  inboxId: string;
  /** Id of the message, else of the draft; of a test the webhook's. */
  objectId: string;
  /** `evt_` and a ULID. */
  eventId: string;
}

export interface EventRow {
  v: 1;
  type: EventType;
  createdAtMs: number;
  /**
   * What its body will be made of, until it is: the message of EventSubject, or the draft where there is no
   * message. What comes besides lies in the payload of its row of the outgoing queue; both together may be
   * more than one value of the store takes.
   */
  subject: MessageRow | DraftRow | null;
  /** One section, the bytes that every webhook is sent; null until they are made. */
  body: BlobRef | null;
}

export const eventKey = defineRow<
  [orgId: string, inboxId: string, objectId: string, eventId: string]
>(["mail-event"], 4, {
  holds:
    "an event that a webhook hears of: what its body will be made of, then the blob of its body",
  expires: "7 d, or with its message or draft",
});

/** The key of an event's row. */
export const eventKeyOf = ({ orgId, inboxId, objectId, eventId }: EventName): Deno.KvKey =>
  eventKey(orgId, inboxId, objectId, eventId);

/** How long an event is kept, and may be delivered again. */
export const EVENT_KEPT_MS = 7 * DAY_MS;

export const eventEndKey = defineRow<
  [endsAtMs: number, orgId: string, inboxId: string, objectId: string, eventId: string]
>(["mail-event-end"], 5, {
  holds: "index of events that have a body, by the end of their time",
  expires: "7 d",
});

/** The key of an event's row in that index. */
export const eventEndKeyOf = (
  { orgId, inboxId, objectId, eventId }: EventName,
  { createdAtMs }: Pick<EventRow, "createdAtMs">,
): Deno.KvKey => eventEndKey(createdAtMs + EVENT_KEPT_MS, orgId, inboxId, objectId, eventId);

/** Kind of the outgoing queue's rows that make the body of an event and queue its deliveries. */
export const EVENT_KIND = "mail-event";

export interface EventPayload extends EventName {
  v: 1;
  /** The webhooks that asked for it when it happened. */
  webhookIds: readonly string[];
  /** Of EventSubject what EventRow.subject is not. */
  beside: { thread: ThreadRow; recipient?: number } | { draft: DraftRow } | null;
}
