import assert from "node:assert/strict";
import { stageNewOutgoing } from "../../../server/base/outgoing/outgoing_row.ts";
import type {
  OutgoingHandler,
  PendingOutcome,
} from "../../../server/base/outgoing/outgoing_handler.ts";
import { Outdated } from "../../../server/base/storage/commits/job.ts";
import { defineRecord } from "../../../server/base/storage/commits/record_key.ts";
import { leaseAndDie, MINUTE_MS, queueDirectly, scripted, T0, withStore } from "./queue_bench.ts";

/** What outcomes change beside their rows. */
const tallyKey = defineRecord<string[], [name: string]>(["tally-beside"], 1);

/** A handler that writes down every outcome in the commit that stores it. */
function tallied(handler: OutgoingHandler<string>, change: (nth: number) => void = () => {}) {
  const settlings: PendingOutcome<string>[] = [];
  const withTally: OutgoingHandler<string> = {
    ...handler,
    extraWrites(settling) {
      settlings.push(settling);
      const nth = settlings.length;
      return (transaction) => {
        change(nth);
        const before = transaction.record(tallyKey("all")) ?? [];
        transaction.putRecord(tallyKey("all"), [...before, `${settling.result} ${settling.note}`]);
      };
    },
  };
  return { handler: withTally, settlings };
}

const tallyOf = async (kv: Deno.Kv) => (await kv.get<string[]>(tallyKey("all"))).value ?? [];

Deno.test("what a handler changes alongside is stored with each outcome, and told of it", () =>
  withStore(async (bench) => {
    const { handler, settlings } = tallied(
      scripted(
        { result: "retry", reason: "451", afterMs: MINUTE_MS, note: "later" },
        { result: "done", note: "taken" },
      ).handler,
    );
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.deepEqual(await tallyOf(bench.kv), ["retry later"]);
    bench.clock.nowMs += MINUTE_MS;
    await outgoing.run();
    assert.deepEqual(await tallyOf(bench.kv), ["retry later", "done taken"]);
    const told = settlings.map(({ id, payload, attempts, dueMs }) => [
      id,
      payload,
      attempts,
      dueMs,
    ]);
    assert.deepEqual(told, [
      ["a", "payload of a", 1, T0 + MINUTE_MS],
      ["a", "payload of a", 2, null],
    ]);
    assert.equal(await bench.row("a"), null);
  }));

Deno.test("what is outdated alongside is prepared anew, and stored once", () =>
  withStore(async (bench) => {
    const { handler, settlings } = tallied(
      scripted({ result: "done", note: "taken" }).handler,
      (nth) => {
        if (nth < 4) throw new Outdated();
      },
    );
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.equal(settlings.length, 4);
    assert.deepEqual(await tallyOf(bench.kv), ["done taken"]);
    assert.equal(await bench.row("a"), null);
  }));

Deno.test("extraWrites() that fails at first is asked again: the outcome is known, and must not be lost", () =>
  withStore(async (bench) => {
    const { handler } = tallied(
      scripted(async (item) => {
        await item.commitData();
        return { result: "done", note: "taken" };
      }).handler,
    );
    let failures = 2;
    const outgoing = await bench.outgoing({
      ...handler,
      extraWrites(settling, reads) {
        if (failures-- > 0) throw new TypeError("the store is away");
        return handler.extraWrites!(settling, reads);
      },
    });
    await bench.queue("a");
    await outgoing.run();
    assert.deepEqual(await tallyOf(bench.kv), ["done taken"]);
  }));

for (const exclusive of [true, false]) {
  Deno.test(`an outcome that the queue finds itself has no note (exclusive: ${exclusive})`, () =>
    withStore(async (bench) => {
      await bench.queue("a");
      await leaseAndDie(bench, "data");
      const { handler, settlings } = tallied(scripted({ result: "done" }).handler);
      const outgoing = await bench.outgoing(handler, { exclusive });
      await outgoing.start();
      bench.clock.nowMs += 2 * MINUTE_MS;
      await outgoing.run();
      assert.deepEqual(settlings.map(({ result, note }) => [result, note]), [[
        "unknown",
        undefined,
      ]]);
      assert.deepEqual(await tallyOf(bench.kv), ["unknown undefined"]);
    }));
}

Deno.test("what a stop kept from beginning changes nothing alongside", () =>
  withStore(async (bench) => {
    const begun = Promise.withResolvers<void>();
    const { handler, settlings } = tallied(
      scripted((item) => {
        begun.resolve();
        return new Promise((resolve) => {
          item.signal.onabort = () =>
            resolve({ result: "retry", reason: "given up", afterMs: MINUTE_MS });
        });
      }).handler,
    );
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    const running = outgoing.run();
    await begun.promise;
    await outgoing.close();
    await running;
    assert.deepEqual(settlings, []);
  }));

Deno.test("an attempt that tried nothing does not count, and says nothing of the destination", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      { result: "retry", reason: "suspended", afterMs: MINUTE_MS, untried: true },
      { result: "done" },
    );
    const outgoing = await bench.outgoing(handler);
    await bench.queue("a");
    await outgoing.run();
    assert.equal((await bench.row("a"))!.attempts, 0);
    bench.clock.nowMs += MINUTE_MS;
    await outgoing.run();
    assert.deepEqual(attempts.map(({ attempts }) => attempts), [1, 1]);
  }));

Deno.test("behind one next hop five failures of any destination count for all", () =>
  withStore(async (bench) => {
    let reachable = false;
    const tried: string[] = [];
    const { handler } = scripted(({ id }) => {
      tried.push(id);
      return Promise.resolve(
        reachable
          ? { result: "done" }
          : { result: "retry", reason: "ECONNREFUSED", afterMs: MINUTE_MS, unreachable: true },
      );
    });
    const outgoing = await bench.outgoing({ ...handler, concurrency: 1, oneNextHop: true });
    const ids = Array.from({ length: 20 }, (_, i) => `row ${i}`);
    for (const id of ids) await bench.queue(id, T0, "test", `org ${id}`);
    await outgoing.run();
    assert.equal(tried.length, 5);
    for (const trial of [1, 2]) {
      tried.length = 0;
      bench.clock.nowMs += 30_000;
      await outgoing.run();
      assert.equal(tried.length, 1, `trial ${trial}`);
    }
    const rows = await Promise.all(ids.map((id) => bench.row(id)));
    assert.equal(rows.reduce((sum, row) => sum + row!.attempts, 0), 5);
    reachable = true;
    tried.length = 0;
    bench.clock.nowMs += MINUTE_MS;
    await outgoing.run();
    assert.equal(new Set(tried).size, 20);
  }));

Deno.test("a lost next hop holds up nothing that needs no attempt", () =>
  withStore(async (bench) => {
    const { handler } = scripted(({ id }) =>
      Promise.resolve(
        id.startsWith("old")
          ? { result: "dead", reason: "expired", untried: true }
          : { result: "retry", reason: "ECONNREFUSED", afterMs: MINUTE_MS, unreachable: true },
      )
    );
    const outgoing = await bench.outgoing({ ...handler, concurrency: 1, oneNextHop: true });
    for (let i = 0; i < 6; i++) await bench.queue(`new ${i}`, T0 - 10, "test", "one");
    await outgoing.run();
    const endsAtMs = T0 + MINUTE_MS;
    for (let i = 0; i < 150; i++) {
      const item = {
        id: `old ${i}`,
        kind: "test",
        destination: `org ${i}`,
        payload: "",
        dueMs: T0,
      };
      await queueDirectly(bench.kv, T0, { ...item, endsAtMs });
    }
    const left = async () =>
      (await Promise.all(Array.from({ length: 150 }, (_, i) => bench.row(`old ${i}`))))
        .filter((row) => row !== null).length;
    bench.clock.nowMs = endsAtMs - 1;
    await outgoing.run();
    // Some were attempted: how many depends on how often the queue looks while this runs.
    assert.notEqual(await left(), 0);
    bench.clock.nowMs = endsAtMs;
    // Some at a time, while rows that are attempted just now are left alone.
    for (let i = 0; i < 10 && await left() > 0; i++) await outgoing.run();
    assert.equal(await left(), 0);
    assert.deepEqual(await Array.fromAsync(bench.kv.list({ prefix: ["outgoing-end"] })), []);
  }));

Deno.test("OutgoingQueue.held() names the rows that a process holds, in any process", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await bench.queue("later", T0 + MINUTE_MS);
    const begun = Promise.withResolvers<void>();
    const proceed = Promise.withResolvers<void>();
    const { handler } = scripted(async () => {
      begun.resolve();
      await proceed.promise;
      return { result: "done" };
    });
    const holder = await bench.outgoing(handler, { exclusive: false });
    const other = await bench.outgoing(handler, { exclusive: false });
    const running = holder.run();
    await begun.promise;
    assert.deepEqual([...await other.held()], ["a"]);
    proceed.resolve();
    await running;
    assert.deepEqual([...await other.held()], []);
  }));

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";
  Deno.test(`OutgoingQueue.held() names no row that waits for a slot, on ${store}`, () =>
    withStore(async (bench) => {
      for (let i = 0; i < 20; i++) await bench.queue(`row ${i}`, T0, "test", `org ${i % 4}`);
      const go = Promise.withResolvers<void>();
      const both = Promise.withResolvers<void>();
      const { handler, attempts } = scripted(async () => {
        if (attempts.length === 2) both.resolve();
        await go.promise;
        return { result: "done" };
      });
      const holder = await bench.outgoing({ ...handler, concurrency: 2 }, { exclusive });
      const other = exclusive ? holder : await bench.outgoing(handler, { exclusive });
      const running = holder.run();
      await both.promise;
      assert.deepEqual([...await other.held()].sort(), attempts.map(({ id }) => id).sort());
      assert.equal(attempts.length, 2);
      go.resolve();
      await running;
      assert.equal(attempts.length, 20);
    }));
}

Deno.test("stageNewOutgoing() queues many rows in one commit that checks none of them", () =>
  withStore(async (bench) => {
    const operation = bench.kv.atomic();
    const transaction = {
      nowMs: T0,
      set: (key: Deno.KvKey, value: unknown) => void operation.set(key, value),
      announce: () => {},
    };
    for (let i = 0; i < 50; i++) {
      stageNewOutgoing(transaction, { id: `new/${i}`, kind: "test", payload: "p", dueMs: T0 });
    }
    await operation.commit();
    const { handler, attempts } = scripted({ result: "done" });
    await (await bench.outgoing(handler)).run();
    assert.equal(new Set(attempts.map(({ id }) => id)).size, 50);
    assert.deepEqual(await bench.index(), []);
  }));
