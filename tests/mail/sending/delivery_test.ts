// Over 300 lines: the journeys of a recipient, one test each, over one bench.
import assert from "node:assert/strict";
import type {
  FailureReason,
  RecipientStatus,
} from "../../../server/mail/records/message_record.ts";
import { inboxKey } from "../../../server/mail/records/inbox_record.ts";
import { messageKey } from "../../../server/mail/records/message_record.ts";
import { suppressionKey } from "../../../server/mail/mailbox/suppressions/suppressions.ts";
import { SAVED_AT_ONCE } from "../../support/read_through.ts";
import type { SmtpFault, SmtpStep } from "../../support/scripted_smtp.ts";
import {
  DAY_MS,
  DOMAIN,
  HOUR_MS,
  makeInbox,
  makeOrg,
  MINUTE_MS,
  rawOf,
  withDeliveries,
} from "./delivery_bench.ts";
import { MAIL_KIND, mailRowId } from "../../../server/mail/mailbox/statuses/queued_mail.ts";
import { orgKey } from "../../../server/mail/records/org_record.ts";
import { INDEX_ROW, indexKeyOf, outgoingKey } from "../../../server/base/outgoing/outgoing_row.ts";

const READER = "reader@example.org";

for (const exclusive of [true, false]) {
  Deno.test(`every recipient gets the stored bytes once, from an address of its own (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive });
      const to = Array.from({ length: 50 }, (_, i) => `reader${i}@example.org`);
      const sent = await bench.accept(relay, to);
      await relay.outgoing.run();
      assert.equal(bench.smtp.contents.length, 50);
      const expected = new TextDecoder().decode(rawOf(sent.id)).replaceAll("\r\n.", "\r\n..");
      const received = bench.smtp.contents.map((content) => `${content}\r\n`);
      assert.deepEqual([...new Set(received)], [expected]);
      const { recipients } = await bench.message(sent);
      assert.deepEqual([...new Set(recipients.map(({ status }) => status))], ["sent"]);
      const [first] = recipients;
      assert.deepEqual(
        [first!.smtpCode, first!.reason, first!.detail, first!.attempts, first!.nextAttemptAtMs],
        [250, null, "stored", 1, null],
      );
      assert.equal(new Set(bench.smtp.commands("MAIL")).size, 50);
      assert.deepEqual(
        new Set(bench.smtp.commands("RCPT")),
        new Set(to.map((one) => `RCPT TO:<${one}>`)),
      );
      assert.ok(bench.smtp.mostSessions() <= 6);
      for (let i = 0; i < 50; i++) assert.equal(await bench.queued(sent, i), null, `row ${i}`);
    }));
}

type Told = [RecipientStatus, FailureReason | null, number | null, string | null];

const answers: [SmtpStep, SmtpFault, Told][] = [
  ["greeting", { reply: "554 5.7.1 no" }, ["deferred", null, 554, "5.7.1"]],
  ["greeting", { reply: "421 busy" }, ["deferred", null, 421, null]],
  ["greeting", "cut", ["deferred", null, null, null]],
  ["greeting", "silence", ["deferred", null, null, null]],
  ["EHLO", { reply: "421 closing" }, ["deferred", null, 421, null]],
  ["EHLO", "cut", ["deferred", null, null, null]],
  ["MAIL", { reply: "451 4.3.0 later" }, ["deferred", null, 451, "4.3.0"]],
  ["MAIL", { reply: "421 closing" }, ["deferred", null, 421, null]],
  ["MAIL", { reply: "550 5.7.1 no" }, ["failed", "sender_refused", 550, "5.7.1"]],
  ["MAIL", "cut", ["deferred", null, null, null]],
  ["MAIL", "silence", ["deferred", null, null, null]],
  ["RCPT", { reply: "450 4.2.1 later" }, ["deferred", null, 450, "4.2.1"]],
  ["RCPT", { reply: "421 4.7.0 closing" }, ["deferred", null, 421, "4.7.0"]],
  ["RCPT", { reply: "550 5.1.1 unknown" }, ["bounced", "refused", 550, "5.1.1"]],
  ["RCPT", { reply: "550 unknown" }, ["bounced", "refused", 550, null]],
  ["RCPT", { reply: "552 5.2.2 full" }, ["bounced", "refused", 552, "5.2.2"]],
  ["RCPT", "cut", ["deferred", null, null, null]],
  ["DATA", { reply: "451 later" }, ["deferred", null, 451, null]],
  ["DATA", { reply: "554 5.7.0 no" }, ["bounced", "refused", 554, "5.7.0"]],
  ["DATA", "cut", ["deferred", null, null, null]],
  ["DATA", "silence", ["deferred", null, null, null]],
  ["content", { reply: "452 4.3.1 full" }, ["deferred", null, 452, "4.3.1"]],
  ["content", { reply: "421 closing" }, ["deferred", null, 421, null]],
  ["content", { reply: "550 5.7.1 spam" }, ["bounced", "refused", 550, "5.7.1"]],
  ["content", { reply: "garbage" }, ["failed", "unknown", null, null]],
  ["content", "cut", ["failed", "unknown", null, null]],
  ["content", "silence", ["failed", "unknown", null, null]],
];
for (const [step, fault, [status, reason, smtpCode, enhancedCode]] of answers) {
  const what = typeof fault === "string" ? fault : fault.reply;
  Deno.test(`${what} at ${step}: ${status}${reason === null ? "" : ` (${reason})`}`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open();
      const sent = await bench.accept(relay, [READER]);
      bench.smtp.script({ [step]: fault });
      await relay.outgoing.run();
      const recipient = await bench.recipient(sent);
      assert.deepEqual(
        [recipient.status, recipient.reason, recipient.smtpCode, recipient.enhancedCode],
        [status, reason, smtpCode, enhancedCode],
      );
      assert.equal(recipient.attempts, 1);
      const row = await bench.queued(sent);
      if (status === "deferred") {
        assert.equal(recipient.nextAttemptAtMs, row!.dueMs);
        const waitMs = row!.dueMs - bench.clock.now();
        // A server that was not reached has said nothing about a later time.
        const isPutOff = step !== "greeting" && step !== "EHLO" || what.startsWith("4");
        const [leastMs, mostMs] = isPutOff ? [54_000, 66_000] : [1, 10_000];
        assert.ok(waitMs >= leastMs && waitMs <= mostMs, `${waitMs}`);
        assert.deepEqual([row!.phase, row!.lease, row!.attempts], ["ready", null, 1]);
        bench.smtp.script({});
        bench.clock.advance(66_000);
        await relay.outgoing.run();
        const later = await bench.recipient(sent);
        assert.deepEqual([later.status, later.attempts, later.smtpCode], ["sent", 2, 250]);
        assert.ok(bench.smtp.contents.length >= 1);
      } else {
        assert.equal(row, null);
        assert.equal(recipient.nextAttemptAtMs, null);
        bench.smtp.script({});
        bench.clock.advance(DAY_MS);
        await relay.outgoing.run();
        assert.equal((await bench.recipient(sent)).status, status);
      }
      // Only an address that does not exist is written to no more.
      const isHard = enhancedCode === "5.1.1" || (step === "RCPT" && what === "550 unknown");
      const suppressed = await relay.suppressions.among(bench.org.id, [READER]);
      assert.deepEqual(suppressed, isHard ? [READER] : []);
    }));
}

Deno.test("a next hop's words before MAIL are told nobody: they are about the relay's own access", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER]);
    bench.smtp.script({ greeting: { reply: "554 10.1.2.3 has no account secret-name" } });
    await relay.outgoing.run();
    const { smtpCode, detail } = await bench.recipient(sent);
    assert.equal(smtpCode, 554);
    assert.equal(detail, "refused by the next hop before the mail");
  }));

Deno.test("a temporary refusal is tried at 1, 5, 15, 30 min, 1, 2, 4, 8, 8 h, then it has expired", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER]);
    const beganMs = bench.clock.now();
    bench.smtp.script({ RCPT: { reply: "451 4.7.1 greylisted" } });
    const waits: number[] = [];
    for (let i = 0; i < 20; i++) {
      await relay.outgoing.run();
      const row = await bench.queued(sent);
      if (row === null) break;
      waits.push((row.dueMs - bench.clock.now()) / MINUTE_MS);
      bench.clock.set(row.dueMs);
    }
    const planned = [1, 5, 15, 30, 60, 120, 240, 480];
    assert.ok(waits.length >= 9, `${waits}`);
    for (const [i, minutes] of planned.entries()) {
      assert.ok(Math.abs(waits[i]! - minutes) <= minutes / 10, `${waits}`);
    }
    assert.equal(bench.clock.now(), beganMs + DAY_MS);
    const recipient = await bench.recipient(sent);
    assert.deepEqual([recipient.status, recipient.reason, recipient.smtpCode], [
      "failed",
      "expired",
      451,
    ]);
    assert.equal(bench.smtp.count("RCPT"), waits.length);
    assert.equal(recipient.attempts, waits.length);
  }));

Deno.test("24 hours of 5xx before MAIL end with next_hop_refused", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER]);
    bench.smtp.script({ greeting: { reply: "554 no" } });
    await relay.outgoing.run();
    bench.clock.advance(DAY_MS);
    await relay.outgoing.run();
    const recipient = await bench.recipient(sent);
    assert.deepEqual([recipient.status, recipient.reason], ["failed", "next_hop_refused"]);
    assert.equal(await bench.queued(sent), null);
  }));

Deno.test("after six hours without a next hop everything is delivered, charged for the first five failures", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    bench.smtp.script({ greeting: "cut" });
    const all = [];
    for (let i = 0; i < 30; i++) all.push(await bench.accept(relay, [`reader${i}@example.org`]));
    for (let minute = 0; minute < 360; minute++) {
      await relay.outgoing.run();
      bench.clock.advance(MINUTE_MS);
    }
    const waiting = await Promise.all(all.map((sent) => bench.recipient(sent)));
    assert.ok(waiting.every(({ status }) => status === "queued" || status === "deferred"));
    assert.ok(waiting.reduce((sum, { attempts }) => sum + attempts, 0) <= 12);
    assert.ok(bench.smtp.count("greeting") < 400, String(bench.smtp.count("greeting")));
    bench.smtp.script({});
    for (let i = 0; i < 4; i++) {
      bench.clock.advance(MINUTE_MS);
      await relay.outgoing.run();
    }
    const after = await Promise.all(all.map((sent) => bench.recipient(sent)));
    assert.deepEqual([...new Set(after.map(({ status }) => status))], ["sent"]);
    assert.equal(bench.smtp.contents.length, 30);
  }));

Deno.test("after a day without a next hop everything has expired, at its time", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    bench.smtp.script({ greeting: "cut" });
    const all = [];
    for (let i = 0; i < 40; i++) all.push(await bench.accept(relay, [`reader${i}@example.org`]));
    await relay.outgoing.run();
    bench.clock.advance(DAY_MS - 1);
    await relay.outgoing.run();
    const before = await Promise.all(all.map((sent) => bench.recipient(sent)));
    assert.ok(before.every(({ status }) => status !== "failed"));
    bench.clock.advance(MINUTE_MS);
    await relay.outgoing.run();
    const after = await Promise.all(all.map((sent) => bench.recipient(sent)));
    assert.deepEqual([...new Set(after.map(({ reason }) => reason))], ["expired"]);
  }));

Deno.test("mail of a suspended org waits, and its 24 hours go on", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER]);
    const late = await bench.accept(relay, ["late@example.org"]);
    await bench.putOrg({ suspendedAtMs: bench.clock.now() });
    await relay.outgoing.run();
    const { status, attempts } = await bench.recipient(sent);
    assert.deepEqual([status, attempts], ["queued", 0]);
    await bench.putOrg({ suspendedAtMs: null });
    bench.clock.advance(5 * MINUTE_MS);
    await relay.outgoing.run();
    assert.deepEqual(bench.smtp.contents.length, 2);
    const third = await bench.accept(relay, ["third@example.org"]);
    await bench.putOrg({ suspendedAtMs: bench.clock.now() });
    for (let hour = 0; hour <= 24; hour++) {
      await relay.outgoing.run();
      bench.clock.advance(HOUR_MS);
    }
    const expired = await bench.recipient(third);
    assert.deepEqual([expired.status, expired.reason, expired.attempts], ["failed", "expired", 0]);
    assert.equal((await bench.recipient(late)).status, "sent");
  }));

Deno.test("an address that was suppressed meanwhile is not written to", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER, "other@example.org"]);
    await bench.kv.set(suppressionKey(bench.org.id, READER), { v: 1 });
    await relay.outgoing.run();
    const { recipients } = await bench.message(sent);
    assert.deepEqual(recipients.map(({ status, reason }) => [status, reason]), [
      ["failed", "suppressed"],
      ["sent", null],
    ]);
    assert.equal(bench.smtp.count("RCPT"), 1);
  }));

Deno.test("mail that was cancelled, or whose message, inbox or org has gone, goes to nobody", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open({ journalBounds: SAVED_AT_ONCE });
    const nowMs = bench.clock.now();
    const cancelled = await bench.accept(relay, [READER], { sendAtMs: nowMs + MINUTE_MS });
    const row = await bench.message(cancelled);
    await bench.kv.set(messageKey(bench.org.id, bench.inboxId, row.id), {
      ...row,
      cancelledAtMs: nowMs,
    });
    const removed = await bench.accept(relay, [READER]);
    await bench.kv.delete(messageKey(bench.org.id, bench.inboxId, removed.id));
    const otherInbox = "ibx_01ARYZ6S410000000000000000";
    await bench.kv.set(
      inboxKey(bench.org.id, otherInbox),
      makeInbox(bench.org.id, otherInbox, nowMs),
    );
    const homeless = await bench.accept(relay, [READER], { inboxId: otherInbox });
    await bench.kv.delete(inboxKey(bench.org.id, otherInbox));
    relay.records.refresh(inboxKey(bench.org.id, otherInbox));
    const otherOrg = makeOrg(nowMs);
    await bench.kv.set(orgKey(otherOrg.id), otherOrg);
    await bench.kv.set(
      inboxKey(otherOrg.id, otherInbox),
      makeInbox(otherOrg.id, otherInbox, nowMs),
    );
    const ofOther = await bench.accept(relay, [READER], {
      orgId: otherOrg.id,
      inboxId: otherInbox,
    });
    await bench.putOrg({ ...otherOrg, deletedAtMs: nowMs });
    await relay.outgoing.run();
    bench.clock.advance(2 * MINUTE_MS);
    await relay.outgoing.run();
    assert.equal(bench.smtp.count("MAIL"), 0);
    const left = [cancelled, removed, homeless, ofOther];
    for (const sent of left) assert.equal(await bench.queued(sent), null);
    assert.equal((await bench.recipient(cancelled)).status, "queued");
    assert.deepEqual(await Array.fromAsync(bench.kv.list({ prefix: ["outgoing"] })), []);
  }));

for (const exclusive of [true, false]) {
  Deno.test(`a scheduled message goes out at its time, not before (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive });
      const sendAtMs = bench.clock.now() + HOUR_MS;
      const sent = await bench.accept(relay, [READER], { sendAtMs });
      // Clocks of other processes may be ahead: until the time it can be cancelled everywhere.
      const dueMs = sendAtMs + (exclusive ? 0 : 5_000);
      bench.clock.set(dueMs - 1);
      await relay.outgoing.run();
      assert.equal(bench.smtp.count("MAIL"), 0);
      bench.clock.set(dueMs);
      await relay.outgoing.run();
      assert.equal((await bench.recipient(sent)).status, "sent");
    }));
}

for (const exclusive of [true, false]) {
  Deno.test(`what a former version queued, by its org alone, is delivered inside and outside (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive, journalBounds: SAVED_AT_ONCE });
      const sent = await bench.accept(relay, [READER, `one@${DOMAIN}`]);
      for (const i of [0, 1]) {
        const id = mailRowId(sent.id, i);
        const row = (await bench.queued(sent, i))!;
        const former = { ...row, kind: MAIL_KIND, destination: bench.org.id };
        await bench.kv.atomic()
          .delete(indexKeyOf(id, row))
          .set(indexKeyOf(id, former), INDEX_ROW)
          .set(outgoingKey(id), former)
          .commit();
      }
      await relay.outgoing.run();
      const { recipients } = await bench.message(sent);
      assert.deepEqual(recipients.map(({ status }) => status), ["sent", "sent"]);
      assert.deepEqual([bench.inside.length, bench.smtp.contents.length], [1, 1]);
    }));
}

Deno.test("mail between inboxes of the relay goes while its next hop is lost", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    bench.smtp.script({ greeting: "cut" });
    await bench.accept(relay, Array.from({ length: 10 }, (_, i) => `reader${i}@d${i}.test`));
    await relay.outgoing.run();
    const sent = await bench.accept(relay, [`one@${DOMAIN}`]);
    await relay.outgoing.run();
    assert.equal((await bench.recipient(sent)).status, "sent");
    assert.equal(bench.smtp.contents.length, 0);
  }));

Deno.test("recipients at the own domain are delivered inside: sent, bounced or tried again", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [`one@${DOMAIN}`]);
    await relay.outgoing.run();
    assert.deepEqual(bench.inside, [{
      from: `bounce+${sent.id}.0@${DOMAIN}`,
      to: `one@${DOMAIN}`,
    }]);
    assert.equal((await bench.recipient(sent)).status, "sent");
    bench.insideReply = { code: 550, enhancedCode: "5.1.1", text: "no such inbox" };
    const bounced = await bench.accept(relay, [`none@${DOMAIN}`]);
    await relay.outgoing.run();
    const { status, smtpCode, enhancedCode, detail } = await bench.recipient(bounced);
    assert.deepEqual([status, smtpCode, enhancedCode, detail], [
      "bounced",
      550,
      "5.1.1",
      "no such inbox",
    ]);
    bench.insideReply = { code: 452, enhancedCode: "4.2.2", text: "full" };
    const full = await bench.accept(relay, [`full@${DOMAIN}`]);
    await relay.outgoing.run();
    assert.equal((await bench.recipient(full)).status, "deferred");
    assert.equal(bench.smtp.count("MAIL"), 0);
  }));

Deno.test("a message whose bytes are damaged is tried until it has expired, alone", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER]);
    const { blob } = await bench.message(sent);
    const bytes = bench.blobs.get(blob.name.join("/"))!;
    bench.blobs.delete(blob.name.join("/"));
    const other = await bench.accept(relay, ["other@example.org"]);
    await relay.outgoing.run();
    assert.equal((await bench.recipient(sent)).status, "queued");
    assert.equal((await bench.recipient(other)).status, "sent");
    bench.blobs.set(blob.name.join("/"), bytes);
    bench.clock.advance(2 * MINUTE_MS);
    await relay.outgoing.run();
    assert.equal((await bench.recipient(sent)).status, "sent");
  }));

Deno.test("one org's crowd of mails leaves another org its turns", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const other = makeOrg(bench.clock.now());
    const inboxId = "ibx_01ARYZ6S410000000000000001";
    await bench.kv.set(orgKey(other.id), other);
    await bench.kv.set(inboxKey(other.id, inboxId), makeInbox(other.id, inboxId, 0));
    for (let i = 0; i < 10; i++) {
      await bench.accept(relay, Array.from({ length: 20 }, (_, n) => `crowd${i}.${n}@example.org`));
    }
    await bench.accept(relay, ["lone@example.org"], { orgId: other.id, inboxId });
    await relay.outgoing.run();
    const order = bench.smtp.commands("RCPT");
    assert.equal(order.length, 201);
    const at = order.indexOf("RCPT TO:<lone@example.org>");
    assert.ok(at >= 0 && at < 60, `at ${at}`);
  }));
