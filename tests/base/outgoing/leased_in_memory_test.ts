/** Rows of kinds that only the queue looks at, on a store of one process: no read finds them, no commit leases them. */
import assert from "node:assert/strict";
import { outgoingKey, type OutgoingRow } from "../../../server/base/outgoing/outgoing_row.ts";
import { countReads } from "../../support/count_reads.ts";
import { scripted, T0, withStore } from "./queue_bench.ts";

const leasedOf = (row: OutgoingRow | null) => row && [row.lease !== null, row.phase, row.attempts];

Deno.test("a row that was committed just now is begun without a search, and leased with its marker", () => {
  let counted: ReturnType<typeof countReads>;
  return withStore(async (bench) => {
    const seen: unknown[] = [];
    const done = Promise.withResolvers<void>();
    const { handler, endings } = scripted(async ({ id, attempts, commitData }) => {
      seen.push(counted.takeCounts()["outgoing-lane"], attempts, leasedOf(await bench.row(id)));
      await commitData();
      seen.push(leasedOf(await bench.row(id)), (await bench.index()).map(([, , leased]) => leased));
      done.resolve();
      return { result: "done" };
    });
    const outgoing = await bench.outgoing(
      { ...handler, leasedInMemory: true },
      { tickMs: 3_600_000 },
    );
    await outgoing.start();
    await outgoing.run();
    counted.takeCounts();
    await bench.commit({ id: "a", kind: "test", destination: "one", payload: "p", dueMs: T0 });
    await done.promise;
    await outgoing.run();
    assert.deepEqual(seen, [undefined, 1, [false, "ready", 0], [true, "data", 1], [true]]);
    assert.deepEqual([endings, await bench.row("a"), await bench.index()], [["done"], null, []]);
  }, (kv) => (counted = countReads(kv)).kv);
});

Deno.test("an attempt under a lease in memory hands nothing over once its row has changed", () =>
  withStore(async (bench) => {
    let handedOver = 0;
    const { handler } = scripted(async ({ id, commitData }) => {
      const row = await bench.row(id);
      await bench.kv.set(outgoingKey(id), { ...row, dueMs: row!.dueMs + 1 });
      await commitData();
      handedOver++;
      return { result: "done" };
    });
    await bench.queue("a");
    await (await bench.outgoing({ ...handler, leasedInMemory: true })).run();
    assert.equal(handedOver, 0);
    assert.deepEqual(leasedOf(await bench.row("a")), [false, "ready", 0]);
  }));

Deno.test("what is put back from a lease in memory counts its attempt, and keeps its place in the index", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      { result: "retry", reason: "450", afterMs: 1_000 },
      { result: "done" },
    );
    await bench.queue("a");
    const outgoing = await bench.outgoing({ ...handler, leasedInMemory: true });
    await outgoing.run();
    assert.deepEqual(leasedOf(await bench.row("a")), [false, "ready", 1]);
    assert.deepEqual(await bench.index(), [[T0 + 1_000, "a", false]]);
    bench.clock.nowMs += 1_000;
    await outgoing.run();
    assert.deepEqual([attempts.map((one) => one.attempts), await bench.index()], [[1, 2], []]);
  }));
