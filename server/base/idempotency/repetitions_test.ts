import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createFakeKv } from "../../../tests/support/fake_kv.ts";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { type Mark, putBeside, Repetitions, type Use, useOf } from "./repetitions.ts";

const KIND = { name: "test-repetition", lifeMs: 1_000, lost: "it is lost" };
const HOUR_MS = 3_600_000;

Deno.test("Repetitions: a use stands until both clocks say that it is over", () => {
  const uses = new Repetitions<Use>(KIND);
  const cases: [nowMs: number, livedMs: number, stands: boolean][] = [
    [1_000, 100, true],
    [1_999, 1_099, true],
    [2_000, 1_100, false],
    [9_000, 1_099, true],
    [1_999, 9_000, true],
    [0, 9_000, true],
    [9_000, 0, true],
  ];
  assert.equal(cases.length, 7);
  for (
    const use of [
      { v: 1, atMs: 1_000, livedMs: 100 },
      { v: 1, createdAtMs: 1_000, livedMs: 100 },
    ] satisfies Use[]
  ) {
    for (const [nowMs, livedMs, stands] of cases) {
      const found = uses.standing(use, { nowMs, livedMs });
      assert.equal(found, stands ? use : null, `${nowMs}/${livedMs}`);
    }
  }
  const former: Mark = { v: 1, atMs: 1_000 };
  assert.equal(uses.standing(former, { nowMs: 9_000, livedMs: 999 }), former);
  assert.equal(uses.standing(former, { nowMs: 9_000, livedMs: 1_000 }), null);
  assert.equal(uses.standing(null, { nowMs: 0, livedMs: 0 }), null);
});

Deno.test("Repetitions reads what lies beside a use, and where that has gone, says how long the use stands by either clock", async () => {
  const uses = new Repetitions<Mark>(KIND);
  const use: Mark = { v: 1, atMs: 1_000, livedMs: 100 };
  const key = ["test-repetition", "a"];
  const read = (row: unknown, nowMs: number, livedMs: number) => {
    const store = { now: () => nowMs, lived: () => livedMs };
    const records = {
      readRow: <T>(asked: Deno.KvKey) => {
        assert.deepEqual(asked, [...key, "part"]);
        return Promise.resolve(row as T | null);
      },
    };
    return uses.readBeside({ records, store }, key, use, ["part"]);
  };
  assert.equal(await read("row", 1_500, 700), "row");
  const lost = (retryAfterMs: number) => ({
    code: "unavailable",
    message: "it is lost",
    retryAfterMs,
  });
  await assert.rejects(read(null, 1_500, 700), lost(500));
  await assert.rejects(read(null, 9_000, 700), lost(400));
  await assert.rejects(read(null, 9_000, 1_100), lost(1));
});

Deno.test("Repetitions names a use in an index by the lived time of its end, and the index the use", () => {
  const uses = new Repetitions<Mark>(KIND);
  const key = ["test-repetition", "org", 7];
  const endKey = uses.endKey(key, { livedMs: 100 });
  assert.deepEqual(endKey, ["repetition", "test-repetition", 100 + 1_000 + 2 * HOUR_MS, "org", 7]);
  assert.deepEqual(uses.endKey(key, {})[2], 1_000 + 2 * HOUR_MS);
  assert.deepEqual(useOf(endKey), key);
});

Deno.test("Repetitions refuses an answer beside that no value of the store holds, before its commit", async () => {
  const kv = await openMemoryKv();
  const storage = await openTestStorage(createFakeKv({ kv, seed: 1 }), { exclusive: false });
  const keep = (sizeBytes: number) =>
    storage.commits.submit((transaction) => {
      const row = { v: 1 as const, body: new Uint8Array(sizeBytes) };
      putBeside(transaction, ["test-repetition", "a"], ["part"], row);
    });
  await assert.rejects(keep(65_000), RangeError);
  await keep(64_000);
  assert.notEqual((await kv.get(["test-repetition", "a", "part"])).value, null);
  await storage.close();
  kv.close();
});
