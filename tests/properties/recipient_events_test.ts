/** Events over random outcomes and reports of a message: message.sent once, all others as statuses change. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { mailRowId } from "../../server/mail/mailbox/statuses/queued_mail.ts";
import type { Trigger } from "../../server/mail/mailbox/statuses/recipient_status.ts";
import { outgoingKey, type OutgoingRow } from "../../server/base/outgoing/outgoing_row.ts";
import { bring, OUTCOMES, REPORTS, withEvents } from "../mail/webhooks/recipient_bench.ts";
import { propertyRuns } from "../support/property_runs.ts";
import { shown } from "../support/raised_events.ts";

const RECIPIENTS = 4;
/** What says that somebody has the mail, or had. */
const TAKING: readonly Trigger[] = ["accepted", ...REPORTS];

// "dropped" is what a lease that ends comes to: its row says so, and no commit of the message does.
const outcome = fc.constantFrom(...OUTCOMES.filter((trigger) => trigger !== "dropped"));
const steps = fc.array(
  fc.record({
    recipient: fc.nat(RECIPIENTS - 1),
    trigger: fc.oneof(outcome, fc.constantFrom(...REPORTS)),
    /** Whether a process is sending to it when a report comes. */
    isHeld: fc.boolean(),
  }),
  { minLength: 1, maxLength: 24 },
);

Deno.test("message.sent comes once, when nobody waits and somebody was sent to, and each status as it is reached", () =>
  withEvents(true, async (bench, by, events) => {
    const told = { sent: 0, others: 0 };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: RECIPIENTS }), steps, async (count, taken) => {
        const to = Array.from({ length: count }, (_, i) => `reader${i}@example.org`);
        const sent = await bench.accept(by, to);
        let isTaken = false;
        let isTold = false;
        const wasDeferred = new Set<number>();
        for (const { recipient: some, trigger, isHeld } of taken) {
          const recipient = some % count;
          const before = (await bench.message(sent)).recipients;
          const key = outgoingKey(mailRowId(sent.id, recipient));
          const { value: row } = await bench.kv.get<OutgoingRow>(key);
          if (row !== null) await bench.kv.set(key, { ...row, lease: isHeld ? "another" : null });
          by.records.refresh(key);
          await bring(by, sent, trigger, recipient);
          const after = (await bench.message(sent)).recipients;
          const { status } = after[recipient]!;
          const isChanged = status !== before[recipient]!.status;
          const expected = [];
          isTaken ||= isChanged && TAKING.includes(trigger);
          if (isTaken && !isTold && after.every(({ status }) => status !== "queued")) {
            isTold = true;
            expected.push("message.sent");
            told.sent++;
          }
          const isNews = status !== "sent" &&
            (status !== "deferred" || !wasDeferred.has(recipient));
          if (status === "deferred") wasDeferred.add(recipient);
          if (isChanged && isNews) {
            expected.push(`message.${status} ${recipient} ${status}`);
            told.others++;
          }
          assert.deepEqual(events.take().map(shown), expected, trigger);
        }
      }),
      propertyRuns(400),
    );
    assert.ok(told.sent > 50 && told.others > 400, JSON.stringify(told));
  }));
