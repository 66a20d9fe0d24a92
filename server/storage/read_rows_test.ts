import assert from "node:assert/strict";
import { storeOn } from "../../tests/support/store_on.ts";
import { READ_KEYS } from "./backend.ts";
import { readRows } from "./read_rows.ts";

Deno.test("readRows() gives the rows of more keys than one read takes, in their order", async () => {
  using kv = await Deno.openKv(":memory:");
  const keys = Array.from({ length: 2 * READ_KEYS + 1 }, (_, i) => ["row", i]);
  for (const [i, key] of keys.entries()) if (i % 3 !== 0) await kv.set(key, i);
  const reads: number[] = [];
  const values: (number | null)[] = [];
  for await (const rows of readRows<number>(storeOn(kv), keys.toReversed())) {
    reads.push(rows.length);
    values.push(...rows.map(({ value }) => value));
  }
  assert.deepEqual(reads, [READ_KEYS, READ_KEYS, 1]);
  assert.deepEqual(values.toReversed(), keys.map((_, i) => i % 3 === 0 ? null : i));
});

Deno.test("readRows() reads nothing beyond where its caller stops", async () => {
  using kv = await Deno.openKv(":memory:");
  let reads = 0;
  const counted = new Proxy(kv, {
    get: (target, name) => {
      if (name === "getMany") reads++;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const keys = Array.from({ length: 3 * READ_KEYS }, (_, i) => ["row", i]);
  for await (const _ of readRows(storeOn(counted), keys)) break;
  assert.equal(reads, 1);
});
