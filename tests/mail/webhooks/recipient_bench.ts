/** Recipients brought on by hand, beside a webhook that hears all. */
import type { Trigger } from "../../../server/mail/mailbox/statuses/recipient_status.ts";
import { type RaisedEvents, watchEvents, webhookFilter } from "../../support/raised_events.ts";
import {
  type Bench,
  type Process,
  putThread,
  type Sent,
  withDeliveries,
} from "../sending/delivery_bench.ts";
import { SAVED_AT_ONCE } from "../../support/read_through.ts";

/** Triggers of attempts, and of rows that come to nothing without one; the others are reports. */
export const OUTCOMES = [
  "accepted",
  "deferred",
  "refused",
  "sender_refused",
  "dropped",
  "lost",
  "suppressed",
  "expired",
] as const;
export const REPORTS = ["reported_delivered", "reported_bounced", "complained"] as const;

/** Brings a recipient on as what delivers, or takes reports, does. */
export async function bring(
  by: Process,
  sent: Sent,
  trigger: Trigger,
  recipient = 0,
): Promise<void> {
  const { orgId, inboxId, id: messageId } = sent;
  const named = { v: 1, orgId, inboxId, messageId, recipient } as const;
  if ((REPORTS as readonly Trigger[]).includes(trigger)) {
    await by.changes.report(named, { trigger });
    return;
  }
  await by.commits.submit({
    prepare: (reads) => by.changes.extraWrites(named, { trigger, attempts: 1 }, reads),
    plan: (transaction, writes) => writes?.(transaction),
  });
}

/** A bench whose org has a webhook that hears all. */
export async function withEvents(
  exclusive: boolean,
  test: (bench: Bench, by: Process, events: RaisedEvents) => Promise<void>,
): Promise<void> {
  await withDeliveries(async (bench) => {
    const events = watchEvents(bench.kv);
    const by = await bench.open({ exclusive, kv: events.kv, journalBounds: SAVED_AT_ONCE });
    await putThread(bench);
    await bench.putOrg({ webhooks: [webhookFilter()] });
    await test(bench, by, events);
  });
}
