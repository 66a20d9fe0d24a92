import assert from "node:assert/strict";
import { join } from "node:path";
import { KvFile, Sum } from "./kv_file.ts";

Deno.test("KvFile.set() writes keys and values as Deno KV reads them", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "rows.kv");
  const record = {
    v: 1,
    text: "he",
    flags: [true, false],
    nested: { low: -7, edge: 2 ** 30 },
    none: null,
    list: ["x"],
    half: 1.5,
    big: 1e12,
  };
  {
    using file = await KvFile.open(path);
    file.set(["record", 7], record);
    file.set(["bytes", -3, "x"], new Uint8Array([0, 255]), Date.now() + 3_600_000);
    file.set(["key", new Uint8Array([1, 0, 255])], 1);
    file.set(["number"], 12_345_678_901);
    file.set(["sum"], new Sum(5n));
    for (const n of [-2, 300, 2]) file.set(["ordered", n], n);
  }
  const kv = await Deno.openKv(path);
  try {
    assert.deepEqual((await kv.get(["record", 7])).value, record);
    assert.deepEqual((await kv.get(["bytes", -3, "x"])).value, new Uint8Array([0, 255]));
    assert.equal((await kv.get(["key", new Uint8Array([1, 0, 255])])).value, 1);
    assert.equal((await kv.get(["number"])).value, 12_345_678_901);
    await kv.atomic().sum(["sum"], 2n).commit();
    assert.equal((await kv.get<Deno.KvU64>(["sum"])).value!.value, 7n);
    const ordered = await Array.fromAsync(kv.list({ prefix: ["ordered"] }), ({ value }) => value);
    assert.deepEqual(ordered, [-2, 2, 300]);
  } finally {
    kv.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("KvFile.set() gives a row the time at which Deno KV deletes it", async () => {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "rows.kv");
  {
    using file = await KvFile.open(path);
    file.set(["expired"], 1, Date.now() - 1_000);
    file.set(["kept"], 1, Date.now() + 3_600_000);
  }
  const kv = await Deno.openKv(path);
  try {
    assert.equal((await kv.get(["kept"])).value, 1);
    assert.equal((await kv.get(["expired"])).value, null);
  } finally {
    kv.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("KvFile.set() refuses what it would store otherwise than Deno KV", async () => {
  const folder = await Deno.makeTempDir();
  using file = await KvFile.open(join(folder, "rows.kv"));
  for (const value of [undefined, 5n, "é", new Date()]) {
    assert.throws(() => file.set(["value"], value), TypeError);
  }
  assert.throws(() => file.set(["value"], "x".repeat(70_000)), RangeError);
  await Deno.remove(folder, { recursive: true });
});
