import assert from "node:assert/strict";
import { listDeadLetters } from "../../../server/base/outgoing/dead_letters.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { storeOn } from "../../support/store_on.ts";
import { OutgoingQueue } from "../../../server/base/outgoing/outgoing_queue.ts";
import { KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { createTestClock } from "../../support/clock.ts";
import { createFakeKv, seededRandom } from "../../support/fake_kv.ts";
import { openTestStorage } from "../../support/storage.ts";
import { queueDirectly } from "./queue_bench.ts";

const ROWS = 40;
const FAULTS = { deniedSuccess: 0.1, lostAnswer: 0.1, locked: 0.1, repeated: 0.1 };

for (const seed of [1, 2, 3, 4, 5, 6]) {
  Deno.test(`three processes over a bad store deliver each row once (seed ${seed})`, async () => {
    const kv = await openMemoryKv();
    const random = seededRandom(seed);
    const clock = createTestClock();
    const handedOver = new Map<string, number>();
    const finished = new Map<string, number>();
    const processes = await Promise.all([1, 2, 3].map(async (number) => {
      const fake = createFakeKv({ kv, seed: 10 * seed + number, faults: FAULTS });
      const storage = await openTestStorage(fake, {
        exclusive: false,
        capacity: KV_CONNECT_CAPACITY,
        clock,
      });
      const outgoing = new OutgoingQueue({ ...storage, log: () => {} });
      outgoing.register<string>({
        kind: "test",
        concurrency: 8,
        async attempt({ id, commitData }) {
          if (random() < 0.3) return { result: "retry", reason: "421", afterMs: 1_000 };
          await commitData();
          await new Promise((resolve) => setTimeout(resolve));
          if (random() < 0.2) return { result: "retry", reason: "452", afterMs: 1_000 };
          handedOver.set(id, (handedOver.get(id) ?? 0) + 1);
          return { result: "done" };
        },
        longestPauseMs: 60_000,
        extraWrites: ({ payload, result }) =>
          result === "retry" ? null : (transaction) => transaction.set(["finished", payload], 1),
      });
      return { outgoing, fake, storage };
    }));
    for (let i = 0; i < ROWS; i++) {
      const item = { id: `row ${i}`, kind: "test", payload: `row ${i}`, dueMs: clock.now() };
      await queueDirectly(kv, clock.now(), item);
    }

    for (let step = 0; step < 200; step++) {
      await Promise.all(processes.map(({ outgoing }) => outgoing.run()));
      const left = await Array.fromAsync(kv.list({ prefix: ["outgoing"] }));
      if (left.length === 0) break;
      clock.advance(5_000);
    }
    for await (const { key } of kv.list({ prefix: ["finished"] })) {
      finished.set(key[1] as string, 1);
    }
    assert.equal(handedOver.size, ROWS);
    assert.deepEqual([...new Set(handedOver.values())], [1]);
    assert.equal(finished.size, ROWS);
    assert.deepEqual(await listDeadLetters(storeOn(kv), ROWS), []);
    for (const index of ["outgoing-lane", "outgoing-leased"]) {
      assert.deepEqual(await Array.fromAsync(kv.list({ prefix: [index] })), []);
    }
    for (const fault of ["deniedSuccess", "lostAnswer", "locked", "repeated"] as const) {
      assert.ok(processes.some(({ fake }) => fake.faultCounts[fault] > 0), fault);
    }
    for (const { outgoing, storage } of processes) {
      await outgoing.close(0);
      await storage.close();
    }
    kv.close();
  });
}
