import assert from "node:assert/strict";
import { countReads } from "../../support/count_reads.ts";
import { scripted, T0, withStore } from "./queue_bench.ts";

Deno.test("a row that was committed just now is begun without a search", () => {
  let counted: ReturnType<typeof countReads>;
  return withStore(async (bench) => {
    const seen: unknown[] = [];
    const done = Promise.withResolvers<void>();
    const { handler, endings } = scripted(({ attempts }) => {
      seen.push(counted.takeCounts()["outgoing-lane"], attempts);
      done.resolve();
      return Promise.resolve({ result: "done" });
    });
    const outgoing = await bench.outgoing(handler, { tickMs: 3_600_000 });
    await outgoing.start();
    await outgoing.run();
    counted.takeCounts();
    await bench.commit({ id: "a", kind: "test", destination: "one", payload: "p", dueMs: T0 });
    await done.promise;
    await outgoing.run();
    assert.deepEqual(seen, [undefined, 1]);
    assert.deepEqual([endings, await bench.row("a"), await bench.index()], [["done"], null, []]);
  }, (kv) => (counted = countReads(kv)).kv);
});
