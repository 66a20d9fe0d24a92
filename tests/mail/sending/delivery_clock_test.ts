/** Mail whose relay has a wall clock that leaps: handed over at most once, and given up for no leap. */
import assert from "node:assert/strict";
import { outgoingKey, type OutgoingRow } from "../../../server/base/outgoing/outgoing_row.ts";
import { delay } from "../../support/pace.ts";
import { mailRowId } from "../../../server/mail/mailbox/statuses/queued_mail.ts";
import {
  type Bench,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type Process,
  type Sent,
  withDeliveries,
} from "./delivery_bench.ts";
import { SAVED_AT_ONCE } from "../../support/read_through.ts";

const READER = "reader@example.org";
const DEFERRED = { RCPT: { reply: "451 4.7.1 later" } };

/** Time passes, and the queue looks each minute. */
async function pass(bench: Bench, relay: Process, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += MINUTE_MS) {
    bench.clock.advance(MINUTE_MS);
    await relay.outgoing.run();
  }
}

const statusOf = async (bench: Bench, sent: Sent) => {
  const { status, reason } = await bench.recipient(sent);
  return reason === null ? status : `${status} ${reason}`;
};

for (const exclusive of [true, false]) {
  for (const leapMs of [9 * HOUR_MS, -9 * HOUR_MS, 5 * DAY_MS]) {
    for (const reply of ["250 taken", "451 later", "554 never"]) {
      Deno.test(`a mail whose dot is held while the clock leaps by ${leapMs / HOUR_MS} h goes out once, then ${reply} (exclusive: ${exclusive})`, () =>
        withDeliveries(async (bench) => {
          const relay = await bench.open({ exclusive });
          const other = exclusive ? relay : await bench.open({ exclusive });
          bench.smtp.script({ content: "silence" });
          const sent = await bench.accept(relay, [READER]);
          const reached = bench.smtp.reached("content");
          const running = relay.outgoing.run();
          await reached;
          bench.clock.leap(leapMs);
          // The process that delivers waits for its own attempt.
          const looks = other.outgoing.run();
          await (exclusive ? delay(1) : looks);
          bench.smtp.script({});
          bench.smtp.release(reply);
          await Promise.all([running, looks]);
          const status = {
            "250 taken": "sent",
            "451 later": "deferred",
            "554 never": "bounced refused",
          };
          assert.equal(await statusOf(bench, sent), status[reply as keyof typeof status]);
          bench.clock.leap(-leapMs);
          await pass(bench, other, 20 * MINUTE_MS);
          const again = reply.startsWith("451");
          assert.equal(bench.smtp.contents.length, again ? 2 : 1);
          if (again) assert.equal(await statusOf(bench, sent), "sent");
          assert.equal(await bench.queued(sent), null);
        }));
    }
  }

  Deno.test(`deferred mail outlives a leap of two days for five seconds (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive });
      bench.smtp.script(DEFERRED);
      const sent = await bench.accept(relay, [READER]);
      await relay.outgoing.run();
      bench.clock.leap(2 * DAY_MS);
      await relay.outgoing.run();
      bench.clock.advance(5_000);
      await relay.outgoing.run();
      bench.clock.leap(-2 * DAY_MS);
      assert.equal(await statusOf(bench, sent), "deferred");
      bench.smtp.script({});
      await pass(bench, relay, 2 * MINUTE_MS);
      assert.equal(await statusOf(bench, sent), "sent");
    }));

  Deno.test(`mail that a relay slept with for two days is tried when it wakes, for as long as it runs (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive });
      bench.smtp.script(DEFERRED);
      const sent = await bench.accept(relay, [READER]);
      await relay.outgoing.run();
      const before = bench.smtp.count("RCPT");
      bench.clock.leap(2 * DAY_MS);
      await pass(bench, relay, 2 * MINUTE_MS);
      assert.ok(bench.smtp.count("RCPT") > before, "tried once the clock is taken for right");
      await pass(bench, relay, 22 * HOUR_MS);
      assert.equal(await statusOf(bench, sent), "deferred");
      await pass(bench, relay, 2 * HOUR_MS);
      assert.equal(await statusOf(bench, sent), "failed expired");
      assert.equal(await bench.queued(sent), null);
      assert.deepEqual(await Array.fromAsync(bench.kv.list({ prefix: ["outgoing-end"] })), []);
    }));

  Deno.test(`mail of a former version goes by the wall, yet is tried for ten minutes after a leap (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive, journalBounds: SAVED_AT_ONCE });
      bench.smtp.script(DEFERRED);
      const sent = await bench.accept(relay, [READER]);
      const key = outgoingKey(mailRowId(sent.id, 0));
      const { livedMs, ...former } = (await bench.queued(sent))!;
      assert.equal(livedMs, 0);
      await bench.kv.set(key, former satisfies OutgoingRow);
      await relay.outgoing.run();
      const before = bench.smtp.count("RCPT");
      bench.clock.leap(2 * DAY_MS);
      await pass(bench, relay, 9 * MINUTE_MS);
      assert.ok(bench.smtp.count("RCPT") > before);
      assert.equal(await statusOf(bench, sent), "deferred");
      await pass(bench, relay, 12 * MINUTE_MS);
      assert.equal(await statusOf(bench, sent), "failed expired");
    }));

  Deno.test(`a start by a clock that is days ahead gives nothing up, and what it put off comes back (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const first = await bench.open({ exclusive });
      bench.smtp.script(DEFERRED);
      const sent = await bench.accept(first, [READER]);
      await first.outgoing.run();
      await first.outgoing.close();
      bench.clock.leap(5 * DAY_MS);
      const ahead = await bench.open({ exclusive });
      await ahead.outgoing.start();
      await ahead.outgoing.run();
      assert.equal(await statusOf(bench, sent), "deferred");
      await ahead.outgoing.close();
      bench.clock.leap(-5 * DAY_MS);
      bench.smtp.script({});
      const right = await bench.open({ exclusive });
      await right.outgoing.start();
      await right.outgoing.run();
      assert.equal(await statusOf(bench, sent), "sent");
    }));

  Deno.test(`mail that was accepted by a clock twenty hours ahead leaves at once by the right one (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      bench.clock.leap(20 * HOUR_MS);
      const ahead = await bench.open({ exclusive });
      bench.smtp.script(DEFERRED);
      const sent = await bench.accept(ahead, [READER, "other@example.org"]);
      const chosen = await bench.accept(ahead, [READER], {
        sendAtMs: bench.clock.now() + 9 * HOUR_MS,
      });
      await ahead.outgoing.run();
      await ahead.outgoing.close();
      bench.clock.leap(-20 * HOUR_MS);
      bench.smtp.script({});
      const right = await bench.open({ exclusive });
      await right.outgoing.start();
      await right.outgoing.run();
      const { recipients } = await bench.message(sent);
      assert.deepEqual(recipients.map(({ status }) => status), ["sent", "sent"]);
      assert.equal(await statusOf(bench, chosen), "queued", "its sender named the time");
    }));
}

Deno.test("mail that was accepted by a clock a year ahead is given up by the time that relays ran", () =>
  withDeliveries(async (bench) => {
    bench.clock.leap(365 * DAY_MS);
    const ahead = await bench.open();
    bench.smtp.script(DEFERRED);
    const sent = await bench.accept(ahead, [READER]);
    await ahead.outgoing.run();
    await ahead.outgoing.close();
    bench.clock.leap(-365 * DAY_MS);
    const right = await bench.open();
    await right.outgoing.start();
    for (let hour = 0; hour < 22; hour++) {
      await right.outgoing.run();
      bench.clock.advance(HOUR_MS);
    }
    assert.equal(await statusOf(bench, sent), "deferred");
    for (let hour = 0; hour < 12; hour++) {
      await right.outgoing.run();
      bench.clock.advance(HOUR_MS);
    }
    assert.equal(await statusOf(bench, sent), "failed expired");
  }));

Deno.test("a trial org that is over by a clock that leapt has its outcome stored, and loses no mail", () =>
  withDeliveries(async (bench) => {
    await bench.putOrg({
      verifiedAtMs: null,
      verifiedEmail: null,
      trialEndsAtMs: bench.clock.now() + 3 * DAY_MS,
    });
    const relay = await bench.open();
    bench.smtp.script({ content: "silence" });
    const [sent, waiting] = [
      await bench.accept(relay, [READER]),
      await bench.accept(relay, ["other@example.org"], { sendAtMs: bench.clock.now() + MINUTE_MS }),
    ];
    const reached = bench.smtp.reached("content");
    const running = relay.outgoing.run();
    await reached;
    bench.clock.leap(400 * DAY_MS);
    bench.smtp.script({});
    bench.smtp.release("250 taken");
    await running;
    assert.equal(await statusOf(bench, sent), "sent");
    await pass(bench, relay, 2 * MINUTE_MS);
    bench.clock.leap(-400 * DAY_MS);
    await pass(bench, relay, 2 * MINUTE_MS);
    assert.equal(await statusOf(bench, waiting), "sent");
  }));
