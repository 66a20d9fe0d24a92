/** Erases events with what they tell of (docs/mail.md, "Events: when"). */
import type { Blobs } from "../../base/blobs/blobs.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { eventEndKeyOf, eventKey, type EventRow } from "../records/event_record.ts";

/** An event as it was read. */
export type StoredEvent = Pick<Deno.KvEntry<EventRow>, "key" | "value">;

/**
 * Events that one commit erases, beside a message with all that it is found by: keys of 75,000 bytes fit a
 * commit, of which an event with its body takes up to 1,400 and such a message 25,000.
 */
export const EVENTS_A_COMMIT = 25;

/** Written with the end of an event whose body was made: answers of receivers may repeat it. Holds the time. */
export const erasedEventKey = defineRow<[orgId: string, eventId: string]>(
  ["mail-event-erased"],
  2,
  {
    holds: "an event that was erased, or whose time is over: answers to it may be in logs",
    expires: "until its attempts are blanked",
  },
);

/**
 * Events of messages and drafts, at most EVENTS_A_COMMIT: where there are so many, there may be more.
 * Read in a change of their mailbox, which guards them: whoever raises an event, makes its body or
 * erases it writes the guard too.
 */
export async function readEvents(
  store: Pick<Store, "list">,
  orgId: string,
  inboxId: string,
  objectIds: readonly string[],
): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (const objectId of objectIds) {
    const prefix = eventKey.under(orgId, inboxId, objectId);
    const limit = EVENTS_A_COMMIT - found.length;
    if (limit > 0) found.push(...await store.list<EventRow>({ prefix }, { limit }));
  }
  return found;
}

/** Erases events, with their bodies: whoever is to deliver one finds it gone. */
export function stageEventErasure(
  transaction: Transaction,
  { blobs }: { blobs: Pick<Blobs, "drop"> },
  events: readonly StoredEvent[],
): void {
  for (const { key, value } of events) {
    const [, orgId, inboxId, objectId, eventId] = key as [string, string, string, string, string];
    transaction.delete(key);
    if (value.body === null) continue;
    blobs.drop(transaction, value.body);
    transaction.delete(eventEndKeyOf({ orgId, inboxId, objectId, eventId }, value));
    transaction.set(erasedEventKey(orgId, eventId), transaction.nowMs);
  }
}
