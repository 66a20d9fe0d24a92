import assert from "node:assert/strict";
import { listDead } from "../../server/outbox/dead_rows.ts";
import { Outbox } from "../../server/outbox/outbox.ts";
import { stageOutgoing } from "../../server/outbox/outgoing_row.ts";
import { KV_CONNECT_CAPACITY } from "../../server/storage/store.ts";
import { createFakeKv, seededRandom } from "../support/fake_kv.ts";

const ROWS = 40;
const FAULTS = { deniedSuccess: 0.1, lostAnswer: 0.1, locked: 0.1, repeated: 0.1 };

for (const seed of [1, 2, 3, 4, 5, 6]) {
  Deno.test(`three processes over a bad store deliver each row once (seed ${seed})`, async () => {
    const kv = await Deno.openKv(":memory:");
    const random = seededRandom(seed);
    let nowMs = Date.UTC(2026, 5, 1);
    const handedOver = new Map<string, number>();
    const finished = new Map<string, number>();
    const processes = [1, 2, 3].map((number) => {
      const fake = createFakeKv({ kv, seed: 10 * seed + number, faults: FAULTS });
      const outbox = new Outbox({
        store: {
          kv: fake,
          exclusive: false,
          capacity: KV_CONNECT_CAPACITY,
          now: () => nowMs,
          random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
        },
        log: () => {},
      });
      outbox.register<string>({
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
        finish: (_ending, payload, operation) => void operation.set(["finished", payload], 1),
      });
      return { outbox, fake };
    });
    for (let i = 0; i < ROWS; i++) {
      const operation = kv.atomic();
      stageOutgoing({
        nowMs,
        requireAbsent: (key) => void operation.check({ key, versionstamp: null }),
        set: (key, value) => void operation.set(key, value),
      }, { id: `row ${i}`, kind: "test", payload: `row ${i}`, dueMs: nowMs });
      await operation.commit();
    }

    for (let step = 0; step < 200; step++) {
      await Promise.all(processes.map(({ outbox }) => outbox.run()));
      const left = await Array.fromAsync(kv.list({ prefix: ["outgoing"] }));
      if (left.length === 0) break;
      nowMs += 5_000;
    }
    for await (const { key } of kv.list({ prefix: ["finished"] })) {
      finished.set(key[1] as string, 1);
    }
    assert.equal(handedOver.size, ROWS);
    assert.deepEqual([...new Set(handedOver.values())], [1]);
    assert.equal(finished.size, ROWS);
    assert.deepEqual(await listDead(kv, ROWS), []);
    assert.deepEqual(await Array.fromAsync(kv.list({ prefix: ["outgoing-due"] })), []);
    for (const fault of ["deniedSuccess", "lostAnswer", "locked", "repeated"] as const) {
      assert.ok(processes.some(({ fake }) => fake.played[fault] > 0), fault);
    }
    for (const { outbox } of processes) await outbox.close(0);
    kv.close();
  });
}
