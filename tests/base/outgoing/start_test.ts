import assert from "node:assert/strict";
import { createFakeKv } from "../../support/fake_kv.ts";
import { leaseAndDie, MINUTE_MS, scripted, T0, withStore } from "./queue_bench.ts";
import { rawOf } from "../../support/read_through.ts";

/** A row as former versions stored it, found by one index of due times, leased or not. */
async function storeFormer(
  kv: Deno.Kv,
  id: string,
  { leased = false, phase = "ready", dueMs = T0 }: {
    leased?: boolean;
    phase?: "ready" | "data";
    dueMs?: number;
  } = {},
): Promise<void> {
  await kv.atomic()
    .set(["outgoing", id], {
      v: 1,
      kind: "test",
      payload: `payload of ${id}`,
      queuedAtMs: T0 - 1,
      dueMs,
      attempts: leased ? 1 : 0,
      phase,
      lease: leased ? "a former process" : null,
      revision: 3,
      lastReason: null,
    })
    .set(["outgoing-due", dueMs, id], { v: 1, kind: "test", leased })
    .commit();
}

Deno.test("OutgoingQueue.start() reads the rows of leases and the first due ones, not all that wait", () => {
  let rowsRead = 0;
  return withStore(async (bench) => {
    for (let i = 0; i < 600; i++) await bench.queue(`row ${i}`, T0 + i);
    await leaseAndDie(bench, "ready");
    const begun = Promise.withResolvers<void>();
    const { handler } = scripted(() => {
      begun.resolve();
      return bench.ended;
    });
    const outgoing = await bench.outgoing(handler);
    rowsRead = 0;
    await outgoing.start();
    await begun.promise;
    // The look for what is due too far ahead reads fifty of a destination, then its end.
    assert.ok(rowsRead < 160, `${rowsRead} rows`);
  }, (kv) =>
    new Proxy(rawOf(kv), {
      get(target, name) {
        if (name === "list") {
          return async function* (...args: Parameters<Deno.Kv["list"]>) {
            for await (const row of target.list(...args)) {
              rowsRead++;
              yield row;
            }
          };
        }
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    }));
});

Deno.test("rows of a former version are delivered, and their index is gone", () =>
  withStore(async (bench) => {
    for (let i = 0; i < 25; i++) await storeFormer(bench.kv, `row ${i}`, { dueMs: T0 - 25 + i });
    await storeFormer(bench.kv, "later", { dueMs: T0 + MINUTE_MS });
    await storeFormer(bench.kv, "held", { leased: true, dueMs: T0 + MINUTE_MS });
    const { handler, attempts } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler);
    await outgoing.run();
    assert.equal(attempts.length, 26);
    assert.deepEqual(attempts.find(({ id }) => id === "held"), {
      id: "held",
      payload: "payload of held",
      attempts: 2,
    });
    assert.deepEqual(await Array.fromAsync(bench.kv.list({ prefix: ["outgoing-due"] })), []);
    assert.deepEqual(await bench.index(), [[T0 + MINUTE_MS, "later", false]]);
    bench.clock.nowMs += MINUTE_MS;
    await outgoing.run();
    assert.equal(attempts.at(-1)!.id, "later");
  }));

Deno.test("what a former version had handed over is unknown, not sent again", () =>
  withStore(async (bench) => {
    await storeFormer(bench.kv, "sent", { leased: true, phase: "data", dueMs: T0 + MINUTE_MS });
    const { handler, attempts, endings } = scripted({ result: "done" });
    await (await bench.outgoing(handler)).run();
    assert.equal(attempts.length, 0);
    assert.deepEqual(endings, ["unknown"]);
  }));

Deno.test("on a shared store a process of a former version keeps the row that it holds", () =>
  withStore(async (bench) => {
    await storeFormer(bench.kv, "held", { leased: true, dueMs: T0 + MINUTE_MS });
    const { handler, attempts } = scripted({ result: "done" });
    const outgoing = await bench.outgoing(handler, { exclusive: false });
    await outgoing.run();
    assert.equal(attempts.length, 0);
    bench.clock.nowMs += MINUTE_MS;
    await outgoing.run();
    assert.equal(attempts.length, 1);
  }));

Deno.test("an index row of a row that is gone is taken away", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await bench.kv.delete(["outgoing", "a"]);
    await bench.kv.set(["outgoing-leased", T0 - 1, "b"], { v: 1 });
    const { handler, attempts } = scripted({ result: "done" });
    await (await bench.outgoing(handler)).run();
    assert.equal(attempts.length, 0);
    assert.deepEqual(await bench.index(), []);
  }));

Deno.test("what came of an attempt is stored although the store fails at first", () => {
  let failures = 0;
  return withStore(async (bench) => {
    const { handler, attempts, endings } = scripted(async (item) => {
      await item.commitData();
      failures = 6; // more than the group commit tries again by itself
      return { result: "done" };
    });
    await bench.queue("a");
    await (await bench.outgoing(handler)).run();
    assert.equal(attempts.length, 1);
    assert.equal(endings.at(-1), "done");
    assert.equal(failures, 0);
    assert.equal(await bench.row("a"), null);
  }, (kv) =>
    createFakeKv({
      kv,
      intercept: (_commit, run) =>
        failures > 0 ? (failures--, Promise.reject(new Error("no disk"))) : run(),
    }));
});
