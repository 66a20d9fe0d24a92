import assert from "node:assert/strict";
import { storeOn } from "../../../tests/support/store_on.ts";
import { countQueue } from "./queue_counts.ts";
import { deadKey, type DeadLetter, INDEX_ROW, laneKey, leasedKey } from "./outgoing_row.ts";

Deno.test("countQueue() counts what waits by kind, what is leased, and what was given up, without payloads", async () => {
  using kv = await Deno.openKv(":memory:");
  assert.deepEqual(await countQueue(storeOn(kv)), {
    counts: [],
    leased: 0,
    isCut: false,
    givenUp: [],
  });
  await kv.set(laneKey("digest", "", 500, "digest/1"), INDEX_ROW);
  await kv.set(laneKey("webhook", "b.example", 300, "webhook/2"), INDEX_ROW);
  await kv.set(laneKey("webhook", "a.example", 400, "webhook/1"), INDEX_ROW);
  await kv.set(leasedKey(900, "digest/2"), INDEX_ROW);
  const dead: DeadLetter = {
    v: 1,
    kind: "digest",
    payload: { to: "a@example.org" },
    queuedAtMs: 1,
    diedAtMs: 7,
    attempts: 3,
    reason: "550",
  };
  for (let i = 0; i < 12; i++) await kv.set(deadKey(i, `d/${i}`), { ...dead, diedAtMs: i });
  const { counts, leased, isCut, givenUp } = await countQueue(storeOn(kv));
  assert.deepEqual(counts, [
    { kind: "digest", waiting: 1, firstDueMs: 500 },
    { kind: "webhook", waiting: 2, firstDueMs: 300 },
  ]);
  assert.deepEqual([leased, isCut], [1, false]);
  assert.deepEqual(givenUp.map(({ diedAtMs }) => diedAtMs), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  assert.deepEqual(Object.keys(givenUp[0]!), ["kind", "diedAtMs", "attempts", "reason"]);
});
