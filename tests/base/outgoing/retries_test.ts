import assert from "node:assert/strict";
import { settlesWithin } from "../../support/pace.ts";
import { listDeadLetters } from "../../../server/base/outgoing/dead_letters.ts";
import { storeOn } from "../../support/store_on.ts";
import { deadKey } from "../../../server/base/outgoing/outgoing_row.ts";
import { MINUTE_MS, scripted, T0, withStore } from "./queue_bench.ts";

Deno.test("OutgoingQueue.run() delivers what is due and removes row and index", () =>
  withStore(async (bench) => {
    const { handler, attempts, endings } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.deepEqual(attempts, [{ id: "a", payload: "payload of a", attempts: 1 }]);
    assert.deepEqual(endings, ["done"]);
    assert.equal((await bench.kv.get(["finished", "payload of a"])).value, "done");
    assert.equal(await bench.row("a"), null);
    assert.deepEqual(await bench.index(), []);
    assert.deepEqual(await listDeadLetters(storeOn(bench.kv), 10), []);
  }));

Deno.test("OutgoingQueue.run() leaves what is due later until the clock says so", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler);
    await bench.queue("later", T0 + MINUTE_MS);
    await outgoing.run();
    assert.equal(attempts.length, 0);
    bench.clock.nowMs = T0 + MINUTE_MS;
    await outgoing.run();
    assert.equal(attempts.length, 1);
  }));

Deno.test("OutgoingQueue.run() leaves rows of a kind without a handler where they are", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a", T0, "other");
    await outgoing.run();
    assert.equal(attempts.length, 0);
    assert.deepEqual(await bench.index(), [[T0, "a", false]]);
  }));

Deno.test("a refused attempt is repeated at its due time, counted, with its changed payload", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      { result: "retry", reason: "421", afterMs: MINUTE_MS, payload: "again" },
      { result: "done" },
    );
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.deepEqual(await bench.index(), [[T0 + MINUTE_MS, "a", false]]);
    assert.equal((await bench.row("a"))!.lastReason, "421");
    bench.clock.nowMs += MINUTE_MS - 1;
    await outgoing.run();
    assert.equal(attempts.length, 1);
    bench.clock.nowMs += 1;
    await outgoing.run();
    assert.deepEqual(attempts[1], { id: "a", payload: "again", attempts: 2 });
    assert.equal(await bench.row("a"), null);
  }));

Deno.test("a refused attempt after the data marker is repeated: the refusal is certain", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      async (item) => {
        await item.commitData();
        return { result: "retry", reason: "452", afterMs: 1 };
      },
      { result: "done" },
    );
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.equal((await bench.row("a"))!.phase, "ready");
    bench.clock.nowMs += 1;
    await outgoing.run();
    assert.equal(attempts.length, 2);
  }));

for (const result of ["dead", "unknown"] as const) {
  Deno.test(`what ended ${result} is not repeated and stays visible for 30 days`, () =>
    withStore(async (bench) => {
      const { handler, attempts, endings } = scripted({ result, reason: "550 at RCPT" });
      const outgoing = await bench.outgoing(handler);
      await bench.queue("a");
      await outgoing.run();
      bench.clock.nowMs += 24 * 60 * MINUTE_MS;
      await outgoing.run();
      assert.equal(attempts.length, 1);
      assert.deepEqual(endings, [result]);
      assert.equal(await bench.row("a"), null);
      assert.deepEqual(await bench.index(), []);
      assert.deepEqual(await listDeadLetters(storeOn(bench.kv), 10), [{
        v: 1,
        kind: "test",
        payload: "payload of a",
        queuedAtMs: T0,
        diedAtMs: T0,
        attempts: 1,
        reason: "550 at RCPT",
      }]);
      assert.notEqual((await bench.kv.get(deadKey(T0, "a"))).value, null);
      assert.match(bench.logged.join("\n"), /outgoing_given_up .*550 at RCPT/);
      assert.doesNotMatch(bench.logged.join("\n"), /payload/);
    }));
}

Deno.test("an attempt that throws before the data marker is repeated after a minute", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      () => Promise.reject(new Error("unforeseen")),
      { result: "done" },
    );
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.deepEqual(await bench.index(), [[T0 + MINUTE_MS, "a", false]]);
    bench.clock.nowMs += MINUTE_MS;
    await outgoing.run();
    assert.equal(attempts.length, 2);
  }));

Deno.test("an attempt that throws after the data marker is unknown", () =>
  withStore(async (bench) => {
    const { handler, endings } = scripted(async (item) => {
      await item.commitData();
      throw new Error("unforeseen");
    });
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.deepEqual(endings, ["unknown"]);
    assert.match((await listDeadLetters(storeOn(bench.kv), 10))[0]!.reason, /^unknown/);
  }));

Deno.test("one kind attempts no more rows at one time than its concurrency", () =>
  withStore(async (bench) => {
    let running = 0;
    let most = 0;
    const { handler, attempts } = scripted(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve));
      running--;
      return { result: "done" };
    });
    const outgoing = await bench.outgoing(handler);
    for (let i = 0; i < 25; i++) await bench.queue(`row ${i}`);
    await outgoing.run();
    assert.equal(attempts.length, 25);
    assert.equal(most, 4);
  }));

Deno.test("a row is delivered as soon as it is committed, whatever its destination, without a tick", () =>
  withStore(async (bench) => {
    const both = Promise.withResolvers<void>();
    const { handler, attempts } = scripted(() => {
      if (attempts.length === 2) both.resolve();
      return Promise.resolve({ result: "done" });
    });
    const partiesOf = (org: string) => ({ org });
    const outgoing = await bench.outgoing({ ...handler, partiesOf }, { tickMs: 3_600_000 });
    await outgoing.start();
    await outgoing.run(); // what its start looks for
    const dueMs = bench.clock.nowMs;
    await bench.commit({ id: "a", kind: "test", destination: "one", payload: "p", dueMs });
    await bench.commit({ id: "b", kind: "test", destination: "two", payload: "p", dueMs });
    assert.ok(await settlesWithin(both.promise, 30_000), "nothing told the queue");
    assert.deepEqual(attempts.map(({ id }) => id).sort(), ["a", "b"]);
  }));

Deno.test("OutgoingQueue.start() ticks: a row that falls due is delivered without a call", () =>
  withStore(async (bench) => {
    const delivered = Promise.withResolvers<void>();
    const { handler } = scripted(() => {
      delivered.resolve();
      return Promise.resolve({ result: "done" });
    });
    const outgoing = await bench.outgoing(handler, { tickMs: 1 });
    await outgoing.start();
    await bench.queue("a");
    await bench.announce({ id: "a", kind: "test", destination: "", dueMs: bench.clock.nowMs });
    const awake = setInterval(() => {}, 1_000);
    await delivered.promise;
    clearInterval(awake);
  }));
