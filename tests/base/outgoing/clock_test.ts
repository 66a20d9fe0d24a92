/** The outgoing queue by a wall clock that leaps. */
import assert from "node:assert/strict";
import type { AttemptOutcome } from "../../../server/base/outgoing/outgoing_handler.ts";
import type { OutgoingQueue } from "../../../server/base/outgoing/outgoing_queue.ts";
import { LEASE_MS } from "../../../server/base/outgoing/outgoing_queue.ts";
import { type Bench, MINUTE_MS, queueDirectly, scripted, T0, withStore } from "./queue_bench.ts";

const HOUR_MS = 60 * MINUTE_MS;
const stores = [{ exclusive: true }, { exclusive: false }];

/** Time passes, and the queue looks each minute. */
async function pass(bench: Bench, outgoing: OutgoingQueue, ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += MINUTE_MS) {
    bench.clock.nowMs += MINUTE_MS;
    await outgoing.run();
  }
}

for (const { exclusive } of stores) {
  Deno.test(`what was put back by a clock nine hours ahead is due when it is right again (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      const { handler, attempts } = scripted(
        { result: "retry", reason: "451", afterMs: MINUTE_MS },
        { result: "done" },
      );
      bench.clock.nowMs += 9 * HOUR_MS;
      const ahead = await bench.outgoing(handler, { exclusive });
      await bench.queue("a");
      await ahead.run();
      await ahead.close();
      bench.clock.leap(-9 * HOUR_MS);
      const outgoing = await bench.outgoing(handler, { exclusive });
      await outgoing.start();
      await outgoing.run();
      assert.equal(attempts.length, 2);
      assert.deepEqual(await bench.index(), []);
    }));

  Deno.test(`a running relay whose clock leaps back brings back what it put off, within a minute (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      const { handler, attempts } = scripted(
        { result: "retry", reason: "451", afterMs: MINUTE_MS },
        { result: "done" },
      );
      const outgoing = await bench.outgoing(handler, { exclusive });
      await outgoing.run();
      bench.clock.leap(9 * HOUR_MS);
      await pass(bench, outgoing, 2 * MINUTE_MS); // taken for right by then
      await bench.queue("a");
      await outgoing.run();
      assert.equal(attempts.length, 1);
      bench.clock.leap(-9 * HOUR_MS);
      await pass(bench, outgoing, MINUTE_MS);
      assert.equal(attempts.length, 2);
    }));

  Deno.test(`a row leased twenty hours ahead by a process that died is attempted again (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      bench.clock.nowMs += 20 * HOUR_MS;
      await bench.queue("a");
      const begun = Promise.withResolvers<void>();
      const dying = scripted(() => {
        begun.resolve();
        return bench.ended;
      });
      void (await bench.outgoing(dying.handler, { exclusive })).run();
      await begun.promise;
      bench.clock.leap(-20 * HOUR_MS);
      const { handler, attempts } = scripted({ result: "done" });
      const outgoing = await bench.outgoing(handler, { exclusive });
      await outgoing.start();
      await outgoing.run();
      assert.deepEqual(attempts.map(({ id }) => id), ["a"]);
      assert.equal((await outgoing.held()).size, 0);
    }));

  Deno.test(`a row in the hands of this process stays there, however far the clock leaps (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      const begun = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<AttemptOutcome<string>>();
      const { handler, attempts, endings } = scripted(async (item) => {
        await item.commitData();
        begun.resolve();
        return await answer.promise;
      });
      const outgoing = await bench.outgoing(handler, { exclusive, tickMs: 1 });
      await bench.queue("a");
      await outgoing.start();
      await begun.promise;
      for (const leapMs of [20 * HOUR_MS, -40 * HOUR_MS, 20 * HOUR_MS]) {
        bench.clock.leap(leapMs);
        for (let minute = 0; minute < 15; minute++) {
          bench.clock.nowMs += MINUTE_MS;
          await new Promise((resolve) => setTimeout(resolve, 3));
        }
      }
      answer.resolve({ result: "done" });
      await outgoing.run();
      assert.deepEqual([attempts.length, endings], [1, ["done"]]);
      assert.equal(await bench.row("a"), null);
    }));

  Deno.test(`while the clock cannot be relied on nothing is begun, and what is under way ends (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      const begun = Promise.withResolvers<void>();
      const whenReady = Promise.withResolvers<void>();
      const { handler, attempts, endings } = scripted(async (item) => {
        if (item.id === "a") {
          begun.resolve();
          await whenReady.promise;
        }
        await item.commitData();
        return { result: "done" };
      });
      const outgoing = await bench.outgoing(handler, { exclusive });
      await bench.queue("a");
      const running = outgoing.run();
      await begun.promise;
      bench.clock.leap(9 * HOUR_MS);
      await bench.queue("b");
      whenReady.resolve();
      await running;
      await outgoing.run();
      assert.deepEqual([attempts.map(({ id }) => id), endings], [["a"], ["done"]]);
      assert.equal(await bench.row("a"), null, "its outcome is stored");
      bench.clock.nowMs += MINUTE_MS - 1;
      await outgoing.run();
      assert.equal(attempts.length, 1);
      bench.clock.nowMs += 1;
      await outgoing.run();
      assert.deepEqual(attempts.map(({ id }) => id), ["a", "b"]);
    }));
}

for (const { exclusive } of stores) {
  Deno.test(`what a clock an hour ahead queued or put back waits no longer than a clock that is right has it wait (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      const { handler: base, attempts } = scripted(
        { result: "retry", reason: "451", afterMs: MINUTE_MS },
        { result: "done" },
      );
      const handler = { ...base, longestPauseMs: 8 * HOUR_MS };
      bench.clock.nowMs += HOUR_MS;
      await bench.queue("put back");
      const ahead = await bench.outgoing(handler, { exclusive });
      await ahead.run();
      await ahead.close();
      await bench.queue("queued");
      bench.clock.leap(-HOUR_MS);
      // By a clock that is right: as long as any pause may be.
      await bench.queue("in time", bench.clock.nowMs + HOUR_MS);
      const outgoing = await bench.outgoing(handler, { exclusive });
      await outgoing.start();
      await outgoing.run();
      assert.deepEqual(attempts.map(({ id }) => id).sort(), ["put back", "put back", "queued"]);
      assert.deepEqual((await bench.index()).map(([, id]) => id), ["in time"]);
    }));

  Deno.test(`what a clock ahead put off is looked for as soon as it leaps back (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      const { handler, attempts } = scripted(
        { result: "retry", reason: "451", afterMs: 5 * MINUTE_MS },
        { result: "done" },
      );
      bench.clock.nowMs += HOUR_MS;
      const outgoing = await bench.outgoing(handler, { exclusive, tickMs: 1 });
      await bench.queue("a");
      await outgoing.start();
      await outgoing.run();
      assert.equal(attempts.length, 1);
      bench.clock.leap(-HOUR_MS);
      await new Promise((resolve) => setTimeout(resolve, 20)); // ticks
      await outgoing.run();
      assert.equal(attempts.length, 2);
    }));
}

Deno.test("what is put back while the clock cannot be relied on is due by the earlier time", () =>
  withStore(async (bench) => {
    const { handler } = scripted(() => {
      bench.clock.leap(9 * HOUR_MS);
      return Promise.resolve({ result: "retry", reason: "451", afterMs: MINUTE_MS });
    });
    await bench.queue("a");
    await (await bench.outgoing(handler)).run();
    assert.equal((await bench.row("a"))!.dueMs, T0 + MINUTE_MS);
  }));

Deno.test("a lease from the future whose holder lives in another process is left to it after a leap", () =>
  withStore(async (bench) => {
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<AttemptOutcome<string>>();
    const slow = scripted(async (item) => {
      await item.commitData();
      begun.resolve();
      return await answer.promise;
    });
    const one = await bench.outgoing(slow.handler, { exclusive: false });
    const other = scripted({ result: "done" });
    const two = await bench.outgoing(other.handler, { exclusive: false });
    await two.run();
    await bench.queue("a");
    const running = one.run();
    await begun.promise;
    bench.clock.leap(-9 * HOUR_MS);
    await two.run();
    assert.deepEqual(other.endings, []);
    answer.resolve({ result: "done" });
    await running;
    assert.deepEqual([slow.endings, other.endings], [["done"], []]);
  }));

Deno.test("a lease from the future of a process that died after a leap ends as soon as one that was renewed by then", () =>
  withStore(async (bench) => {
    const begun = Promise.withResolvers<void>();
    const dying = scripted(() => {
      begun.resolve();
      return bench.ended;
    });
    const other = scripted({ result: "done" });
    const two = await bench.outgoing(other.handler, { exclusive: false });
    await two.run();
    await bench.queue("a");
    void (await bench.outgoing(dying.handler, { exclusive: false })).run();
    await begun.promise;
    bench.clock.leap(-9 * HOUR_MS);
    await two.run(); // it finds the leap
    await pass(bench, two, LEASE_MS);
    assert.equal(other.attempts.length, 0);
    await pass(bench, two, MINUTE_MS);
    assert.equal(other.attempts.length, 1);
  }));

const TRIED_MS = 24 * HOUR_MS;

Deno.test("a due time that its sender chose stands, however far ahead, and no former row is hurried", () =>
  withStore(async (bench) => {
    const base = scripted({ result: "done" });
    const handler = { ...base.handler, triedMs: TRIED_MS };
    const chosenMs = T0 + 30 * TRIED_MS;
    const item = { kind: "test", payload: "p", dueMs: chosenMs };
    await queueDirectly(bench.kv, T0, { ...item, id: "chosen", endsAtMs: chosenMs + TRIED_MS });
    await queueDirectly(bench.kv, T0, { ...item, id: "former" });
    // Put off by a clock that was right when it was queued, and wrong after that.
    await queueDirectly(bench.kv, T0, { ...item, id: "put off", endsAtMs: T0 + TRIED_MS });
    // Queued by a clock that was wrong.
    await queueDirectly(bench.kv, chosenMs, {
      ...item,
      id: "queued ahead",
      endsAtMs: chosenMs + TRIED_MS,
    });
    const outgoing = await bench.outgoing(handler);
    await outgoing.run();
    assert.deepEqual(base.attempts.map(({ id }) => id).sort(), ["put off", "queued ahead"]);
    const waiting = (await bench.index()).map(([dueMs, id]) => [dueMs, id]);
    assert.deepEqual(waiting, [[chosenMs, "chosen"], [chosenMs, "former"]]);
  }));

Deno.test("all rows that are due too far ahead come back, at however many destinations, in bounded looks", () =>
  withStore(async (bench) => {
    const rows = 1_200;
    for (let i = 0; i < rows; i++) {
      const isFar = i % 2 === 0;
      const dueMs = isFar ? T0 + 9 * HOUR_MS : T0 + 5 * MINUTE_MS;
      await bench.queue(`row ${i}`, dueMs, "test", `d${i % (i < 600 ? 1 : 300)}`);
    }
    await bench.queue("of nobody", T0 + 9 * HOUR_MS, "other");
    const { handler, attempts } = scripted({ result: "done" });
    const outgoing = await bench.outgoing({ ...handler, partiesOf: () => ({}) });
    let looks = 0;
    for (; attempts.length < rows / 2 && looks < 20; looks++) await outgoing.run();
    assert.ok(looks > 1, "no look reads all");
    assert.equal(attempts.length, rows / 2);
    assert.equal(new Set(attempts.map(({ id }) => id)).size, rows / 2);
    assert.equal((await bench.index()).length, rows / 2 + 1, "what is due in time waits");
  }));
