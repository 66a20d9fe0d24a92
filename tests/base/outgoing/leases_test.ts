import assert from "node:assert/strict";
import { listDeadLetters } from "../../../server/base/outgoing/dead_letters.ts";
import { storeOn } from "../../support/store_on.ts";
import { type AttemptOutcome, LeaseLost } from "../../../server/base/outgoing/outgoing_handler.ts";
import { createFakeKv } from "../../support/fake_kv.ts";
import { leaseAndDie, MINUTE_MS, scripted, T0, withStore } from "./queue_bench.ts";

Deno.test("two processes on one store attempt a row once", () =>
  withStore(async (bench) => {
    const one = scripted({ result: "done" });
    const other = scripted({ result: "done" });
    const queues = [
      await bench.outgoing(one.handler, { exclusive: false }),
      await bench.outgoing(other.handler, { exclusive: false }),
    ];
    for (let i = 0; i < 30; i++) await bench.queue(`row ${i}`);
    await Promise.all(queues.map((outgoing) => outgoing.run()));
    const ids = [...one.attempts, ...other.attempts].map(({ id }) => id);
    assert.equal(ids.length, 30);
    assert.equal(new Set(ids).size, 30);
  }));

Deno.test("OutgoingQueue.start() frees the leases of a former process on an exclusive store", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await leaseAndDie(bench, "ready");
    assert.equal((await bench.index())[0]![2], true);
    const { handler, attempts } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler);
    await outgoing.start();
    await outgoing.run();
    assert.deepEqual(attempts, [{ id: "a", payload: "payload of a", attempts: 2 }]);
  }));

Deno.test("what a former process had handed over is unknown and never repeated", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await leaseAndDie(bench, "data");
    const { handler, attempts, endings } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler);
    await outgoing.start();
    await outgoing.run();
    assert.equal(attempts.length, 0);
    assert.deepEqual(endings, ["unknown"]);
    assert.equal((await listDeadLetters(storeOn(bench.kv), 10)).length, 1);
  }));

Deno.test("on a shared store a dead process's row waits for the end of its lease", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await leaseAndDie(bench, "ready");
    const { handler, attempts } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler, { exclusive: false });
    await outgoing.start();
    await outgoing.run();
    assert.equal(attempts.length, 0);
    bench.clock.nowMs = T0 + MINUTE_MS;
    await outgoing.run();
    assert.equal(attempts.length, 1);
  }));

Deno.test("an attempt whose lease was taken over hands nothing over and settles nothing", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    const begun = Promise.withResolvers<void>();
    const proceed = Promise.withResolvers<void>();
    let refused: unknown;
    const slow = scripted(async (item) => {
      begun.resolve();
      await proceed.promise;
      await item.commitData().catch((error) => refused = error);
      throw refused;
    });
    const first = await bench.outgoing(slow.handler, { exclusive: false });
    const running = first.run();
    await begun.promise;
    bench.clock.nowMs += MINUTE_MS + 5_000;
    const taking = scripted({ result: "done" });
    await (await bench.outgoing(taking.handler, { exclusive: false })).run();
    assert.equal(taking.attempts.length, 1);
    proceed.resolve();
    await running;
    assert.ok(refused instanceof LeaseLost);
    assert.deepEqual(slow.endings, []);
    assert.equal(await bench.row("a"), null);
  }));

Deno.test("OutgoingQueue.stop() gives up what is not handed over, uncounted and due at once", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    const begun = Promise.withResolvers<void>();
    const { handler } = scripted((item) => {
      begun.resolve();
      return new Promise((resolve) => {
        item.signal.onabort = () =>
          resolve({ result: "retry", reason: "given up", afterMs: MINUTE_MS });
      });
    });
    const outgoing = await bench.outgoing(handler);
    const running = outgoing.run();
    await begun.promise;
    await outgoing.close();
    await running;
    const row = (await bench.row("a"))!;
    assert.deepEqual([row.attempts, row.lease, row.dueMs, row.phase], [0, null, T0, "ready"]);
  }));

Deno.test("OutgoingQueue.close() waits for the answer to what was handed over", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<AttemptOutcome<string>>();
    const { handler, endings } = scripted(async (item) => {
      await item.commitData();
      begun.resolve();
      return await answer.promise;
    });
    const outgoing = await bench.outgoing(handler);
    const running = outgoing.run();
    await begun.promise;
    const closing = outgoing.close();
    answer.resolve({ result: "done" });
    await closing;
    await running;
    assert.deepEqual(endings, ["done"]);
  }));

Deno.test("a commit that is reported as failed after it succeeded loses and repeats nothing", () =>
  withStore(async (bench) => {
    const { handler, attempts, endings } = scripted(
      async (item) => {
        await item.commitData();
        return { result: "retry", reason: "451", afterMs: 1 };
      },
      { result: "done" },
    );
    const outgoing = await bench.outgoing(handler, { exclusive: false });
    await bench.queue("a");
    await outgoing.run();
    bench.clock.nowMs += 1;
    await outgoing.run();
    assert.equal(attempts.length, 2);
    assert.deepEqual(endings, ["done"]);
    assert.equal(await bench.row("a"), null);
    assert.deepEqual(await bench.index(), []);
  }, (kv) => createFakeKv({ kv, faults: { deniedSuccess: 1 } })));

for (const passingMs of [1_000, -MINUTE_MS]) {
  Deno.test(`a store that fails leaves the row to a later look, ${passingMs} ms on by the clock`, () => {
    const failing = { on: false };
    return withStore(async (bench) => {
      const { handler, attempts } = scripted({ result: "done" });
      const outgoing = await bench.outgoing(handler);
      await bench.queue("a", T0 - MINUTE_MS);
      failing.on = true;
      await outgoing.run();
      failing.on = false;
      await outgoing.run();
      assert.equal(attempts.length, 0, "not at once again");
      bench.clock.nowMs += passingMs;
      await outgoing.run();
      assert.equal(attempts.length, 1);
    }, (kv) =>
      createFakeKv({
        kv,
        intercept: (_commit, run) => failing.on ? Promise.reject(new Error("no disk")) : run(),
      }));
  });
}
