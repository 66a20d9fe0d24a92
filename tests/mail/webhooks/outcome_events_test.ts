/** Events of every way that a recipient may go, and of outcomes and reports that race each other. */
import assert from "node:assert/strict";
import type { Trigger } from "../../../server/mail/mailbox/statuses/recipient_status.ts";
import { bring, OUTCOMES, REPORTS, withEvents } from "./recipient_bench.ts";
import { mailRowId } from "../../../server/mail/mailbox/statuses/queued_mail.ts";
import { messageKey, type MessageRow } from "../../../server/mail/records/message_record.ts";
import { orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import { outgoingKey, type OutgoingRow } from "../../../server/base/outgoing/outgoing_row.ts";
import {
  type RaisedEvents,
  shown,
  watchEvents,
  webhookFilter,
} from "../../support/raised_events.ts";
import { type Bench, putThread, type Sent, withDeliveries } from "../sending/delivery_bench.ts";

/**
 * What each way raises of a message with one recipient, `sent` for message.sent, after which nobody is waited
 * for; ways that are not here raise nothing, most since they are none. "sending" is a first attempt, "again"
 * a later one.
 */
const RAISED: Readonly<Record<string, string>> = {
  "sending accepted": "sent",
  "sending deferred": "deferred",
  "sending refused": "bounced",
  "sending sender_refused": "failed",
  "sending lost": "failed",
  "sending reported_delivered": "sent delivered",
  "sending reported_bounced": "sent bounced",
  "sending complained": "sent complained",
  "again accepted": "sent",
  "again refused": "bounced",
  "again sender_refused": "failed",
  "again lost": "failed",
  "again reported_delivered": "sent delivered",
  "again reported_bounced": "sent bounced",
  "again complained": "sent complained",
  "queued suppressed": "failed",
  "queued expired": "failed",
  "deferred suppressed": "failed",
  "deferred expired": "failed",
  "deferred reported_delivered": "sent delivered",
  "deferred reported_bounced": "sent bounced",
  "deferred complained": "sent complained",
  "unknown reported_delivered": "sent delivered",
  "unknown reported_bounced": "sent bounced",
  "unknown complained": "sent complained",
  "sent reported_delivered": "delivered",
  "sent reported_bounced": "bounced",
  "sent complained": "complained",
  "delivered reported_bounced": "bounced",
  "delivered complained": "complained",
};
const PLACES = ["queued", "sending", "deferred", "again", "sent", "delivered", "bounced"] as const;
const FINAL = ["complained", "failed", "unknown"] as const;
type Place = (typeof PLACES)[number] | (typeof FINAL)[number];

const isHeld = (place: Place) => place === "sending" || place === "again";

function storedAs(place: Place): Pick<MessageRow["recipients"][number], "status" | "reason"> {
  if (place === "unknown") return { status: "failed", reason: "unknown" };
  if (place === "failed") return { status: "failed", reason: "expired" };
  const status = place === "sending" ? "queued" : place === "again" ? "deferred" : place;
  return { status, reason: null };
}

/** Has the store hold a message whose first recipient is at a place. */
async function place(bench: Bench, sent: Sent, at: Place, fields: Partial<MessageRow>) {
  const row = await bench.message(sent);
  const recipients = row.recipients.with(0, { ...row.recipients[0]!, ...storedAs(at) });
  await bench.kv.set(messageKey(sent.orgId, sent.inboxId, sent.id), {
    ...row,
    recipients,
    ...fields,
  });
  const key = outgoingKey(mailRowId(sent.id, 0));
  const queued = await bench.kv.get<OutgoingRow>(key);
  if (isHeld(at)) await bench.kv.set(key, { ...queued.value, lease: "another" });
}

const inShort = (events: RaisedEvents) =>
  events.take().map(({ row: { type } }) => type.replace("message.", "")).join(" ");

Deno.test("every trigger in every place raises what the table says, and nothing else", () =>
  withEvents(true, async (bench, by, events) => {
    const found: Record<string, string> = {};
    for (const at of [...PLACES, ...FINAL]) {
      for (const trigger of [...OUTCOMES, ...REPORTS]) {
        // Attempts are made of what is held, and what comes to nothing without one is not.
        const isAttempt = (OUTCOMES as readonly Trigger[]).includes(trigger) &&
          trigger !== "suppressed" && trigger !== "expired";
        if (isAttempt !== isHeld(at) && !(REPORTS as readonly Trigger[]).includes(trigger)) {
          continue;
        }
        const sent = await bench.accept(by, ["ann@example.org"]);
        await place(bench, sent, at, {});
        const before = await bench.message(sent);
        await bring(by, sent, trigger);
        const told = inShort(events);
        if (told !== "") found[`${at} ${trigger}`] = told;
        const after = await bench.message(sent);
        if (before.recipients[0]!.status === after.recipients[0]!.status) assert.equal(told, "");
        // Once more: nothing that is said twice is told twice.
        if (!isAttempt) await bring(by, sent, trigger);
        assert.equal(inShort(events), "", `${at} ${trigger} again`);
      }
    }
    assert.deepEqual(found, RAISED);
  }));

Deno.test("message.sent waits for those who have not been tried, and comes with whoever is the last", () =>
  withEvents(true, async (bench, by, events) => {
    for (const [way, told] of Object.entries(RAISED)) {
      const [at, trigger] = way.split(" ") as [Place, Trigger];
      const to = ["ann@example.org", "bob@example.org"];
      const sent = await bench.accept(by, to);
      await place(bench, sent, at, {});
      await bring(by, sent, trigger);
      const own = told.replace(/^sent ?/, "");
      assert.equal(inShort(events), own, `${way} beside one that waits`);
      const wasTaken = told.startsWith("sent") || at === "sent" || at === "delivered";
      await bring(by, sent, "refused", 1);
      assert.equal(inShort(events), wasTaken ? "sent bounced" : "bounced", `the last after ${way}`);
      for (const report of REPORTS) await bring(by, sent, report, 1);
      assert.equal(inShort(events), "");
    }
  }));

Deno.test("of two events of a commit message.sent has the lesser id, in its row and its name", () =>
  withEvents(true, async (bench, by, events) => {
    for (let i = 0; i < 200; i++) {
      const sent = await bench.accept(by, ["ann@example.org"]);
      await place(bench, sent, "unknown", {});
      await bring(by, sent, "complained");
      const [first, second] = events.take();
      assert.deepEqual([first!.row.type, second!.row.type], [
        "message.sent",
        "message.complained",
      ]);
      assert.ok(first!.id < second!.id);
      for (const { id, row, payload } of [first!, second!]) {
        assert.deepEqual([payload.eventId, payload.objectId], [id, sent.id]);
        assert.deepEqual(row.subject, await bench.message(sent));
      }
      assert.equal(shown(second!), "message.complained 0 complained");
    }
  }));

Deno.test("what had left under a former version is not told late", () =>
  withEvents(true, async (bench, by, events) => {
    for (const at of ["sent", "delivered"] as const) {
      const sent = await bench.accept(by, ["ann@example.org"]);
      await place(bench, sent, at, {});
      await bring(by, sent, "complained");
      assert.equal(inShort(events), "complained");
    }
  }));

for (const exclusive of [true, false]) {
  Deno.test(`a report before the final reply tells it all, and the reply nothing more (exclusive: ${exclusive})`, () =>
    withEvents(exclusive, async (bench, by, events) => {
      bench.smtp.script({ content: "silence" });
      const sent = await bench.accept(by, ["ann@example.org"]);
      const reached = bench.smtp.reached("content");
      const run = by.outgoing.run();
      await reached;
      await bring(by, sent, "reported_delivered");
      assert.equal(inShort(events), "sent delivered");
      bench.smtp.release("250 stored");
      await run;
      assert.equal((await bench.recipient(sent)).status, "delivered");
      assert.equal(inShort(events), "");
    }));

  Deno.test(`a webhook that comes between a plan's reading and its commit hears it (exclusive: ${exclusive})`, () =>
    withEvents(exclusive, async (bench, by, events) => {
      const key = orgKey(bench.org.id);
      const { webhooks } = (await bench.kv.get<OrgRecord>(key)).value!;
      const { load } = by.records;
      for (const trigger of ["accepted", "complained"] as const) {
        const sent = await bench.accept(by, ["ann@example.org"]);
        await place(bench, sent, trigger === "accepted" ? "sending" : "sent", {});
        const deaf = await bench.putOrg({ webhooks: [] });
        await by.records.load(key); // memory knows of none
        const hearing: OrgRecord = { ...deaf, webhooks };
        let loads = 0;
        by.records.load = async (asked) => {
          const entry = { ...await load.call(by.records, asked) };
          if (asked[0] !== "mail-org" || ++loads > 1) return entry;
          if (exclusive) await by.commits.submit((to) => to.putRecord(key, hearing));
          else await bench.kv.set(key, hearing);
          return entry;
        };
        await bring(by, sent, trigger);
        by.records.load = load;
        assert.ok(loads > 1);
        assert.equal(inShort(events), trigger === "accepted" ? "sent" : trigger);
      }
    }));
}

Deno.test("two processes that are told at one time raise an event once", () =>
  withDeliveries(async (bench) => {
    const events = watchEvents(bench.kv);
    const processes = [
      await bench.open({ exclusive: false, kv: events.kv }),
      await bench.open({ exclusive: false, kv: events.kv }),
    ] as const;
    await putThread(bench);
    await bench.putOrg({ webhooks: [webhookFilter()] });
    const to = Array.from({ length: 6 }, (_, i) => `reader${i}@example.org`);
    const sent = await bench.accept(processes[0], to);
    await Promise.all([
      ...processes.map(({ outgoing }) => outgoing.run()),
      ...to.flatMap((_, i) => processes.map((by) => bring(by, sent, "reported_delivered", i))),
    ]);
    await Promise.all(to.map((_, i) => bring(processes[i % 2]!, sent, "reported_delivered", i)));
    assert.deepEqual(events.take().map(shown).sort(), [
      ...to.map((_, i) => `message.delivered ${i} delivered`),
      "message.sent",
    ]);
  }));
