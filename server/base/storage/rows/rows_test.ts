/** The contract of the store, over each adapter. */
import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createFakeKv, type Faults } from "../../../../tests/support/fake_kv.ts";
import { MemoryBackend } from "../../../../tests/support/memory_backend.ts";
import type { Backend } from "./backend.ts";
import { CALL_DEADLINE_MS, NoAnswer, StoreFailed } from "./call_deadline.ts";
import { KvBackend } from "../deno_kv/kv_backend.ts";
import { createRows, type Row, type Rows } from "./rows.ts";

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

/** Registers a test once for each adapter; a test may ask for a store whose commits are unclear. */
function contract(name: string, test: (rows: Rows, backend: Backend) => Promise<void>): void {
  Deno.test(`${name} (memory)`, async () => {
    const backend = new MemoryBackend();
    await test(createRows({ backend, random, isUnclear: true }), backend);
  });
  Deno.test(`${name} (Deno KV)`, async () => {
    using kv = await openMemoryKv();
    const backend = new KvBackend(createFakeKv({ kv, maxChecks: 10 }));
    await test(createRows({ backend, random, isUnclear: true }), backend);
  });
}

async function put(rows: Rows, ...keys: Deno.KvKey[]): Promise<void> {
  await rows.transact((transaction) => {
    for (const key of keys) transaction.set(key, key.join("/"));
  });
}

contract("get() tells a row and that there is none", async (rows) => {
  await put(rows, ["a", 1]);
  assert.equal((await rows.get(["a", 1])).value, "a/1");
  assert.deepEqual(await rows.get(["a", 2]), { key: ["a", 2], value: null, versionstamp: null });
});

contract("getMany() gives more keys than one read takes, in their order", async (rows) => {
  const keys = Array.from({ length: 23 }, (_, i) => ["row", i]);
  await put(rows, ...keys.filter((_, i) => i % 3 !== 0));
  const found = await rows.getMany<string[]>(keys.toReversed());
  assert.deepEqual(
    found.map(({ value }) => value),
    keys.map((key, i) => i % 3 === 0 ? null : key.join("/")).toReversed(),
  );
  assert.deepEqual(await rows.getMany([]), []);
});

const SELECTORS: readonly Deno.KvListSelector[] = [
  { prefix: ["r"] },
  { prefix: ["r"], start: ["r", 3] },
  { prefix: ["r"], end: ["r", 8] },
  { start: ["r", 2], end: ["r", 9] },
  { start: ["q"], end: ["s"] },
  { prefix: ["none"] },
];

contract("list() gives the same whatever the size of a batch, both ways", async (rows, backend) => {
  const keys: Deno.KvKey[] = Array.from({ length: 11 }, (_, i) => ["r", i]);
  const others: Deno.KvKey[] = [["q", "x"], ["r"], ["r", "text"], ["r", 4, new Uint8Array(0)], [
    "r",
    4,
    "below",
  ], ["s"]];
  await put(rows, ...keys, ...others);
  for (const selector of SELECTORS) {
    for (const reverse of [false, true]) {
      const whole = (await backend.list(selector, 100, reverse)).map(({ key }) => key);
      for (const batchSize of [1, 2, 5, 13, 100]) {
        const listed = await rows.list(selector, { batchSize, reverse });
        assert.deepEqual(listed.map(({ key }) => key), whole);
        const batches: Deno.KvKey[] = [];
        for await (const batch of rows.batches(selector, { batchSize, reverse })) {
          assert.ok(batch.length > 0 && batch.length <= batchSize);
          batches.push(...batch.map(({ key }) => key));
        }
        assert.deepEqual(batches, whole);
      }
    }
  }
  assert.equal((await rows.list({ prefix: ["r"] })).length, 14);
});

contract("list() counts what is taken against its limit", async (rows) => {
  await put(rows, ...Array.from({ length: 30 }, (_, i) => ["r", i]));
  const even = (key: Deno.KvKey) => key[1] as number % 2 === 0;
  const taken = await rows.list({ prefix: ["r"] }, { limit: 4, take: ({ key }) => even(key) });
  assert.deepEqual(taken.map(({ key }) => key[1]), [0, 2, 4, 6]);
  const last = await rows.list({ prefix: ["r"] }, { limit: 3, reverse: true });
  assert.deepEqual(last.map(({ key }) => key[1]), [29, 28, 27]);
  assert.deepEqual(await rows.list({ prefix: ["r"] }, { limit: 0 }), []);
});

contract("transact() plans again where another was faster", async (rows) => {
  await put(rows, ["n"]);
  let plans = 0;
  const seen = await rows.transact(async (transaction) => {
    const { value } = await transaction.get<string>(["n"]);
    if (++plans === 1) await rows.transact((other) => other.set(["n"], "faster"));
    transaction.set(["n"], `${value}, then mine`);
    return value;
  });
  assert.equal(plans, 2);
  assert.equal(seen, "faster");
  assert.equal((await rows.get(["n"])).value, "faster, then mine");
});

contract("transact() loses no increment of callers at one time", async (rows) => {
  const add = () =>
    rows.transact(async (transaction) => {
      const { value } = await transaction.get<number>(["count"]);
      transaction.set(["count"], (value ?? 0) + 1);
    });
  await Promise.all(Array.from({ length: 12 }, add));
  assert.equal((await rows.get(["count"])).value, 12);
});

contract(
  "transact() sees that a row was absent, sums, deletes, and stores nothing of a plan that throws",
  async (rows) => {
    await put(rows, ["gone"]);
    await rows.transact((transaction) => {
      transaction.delete(["gone"]);
      transaction.sum(["sum"], 2n);
    });
    await rows.transact((transaction) => transaction.sum(["sum"], 3n));
    assert.equal((await rows.get(["gone"])).value, null);
    assert.equal((await rows.get<Deno.KvU64>(["sum"])).value?.value, 5n);
    let plans = 0;
    await rows.transact(async (transaction) => {
      const { value } = await transaction.get(["new"]);
      if (++plans === 1) await put(rows, ["new"]);
      if (value === null) transaction.set(["new"], "mine");
    });
    assert.equal((await rows.get(["new"])).value, "new");
    await assert.rejects(
      rows.transact((transaction) => {
        transaction.set(["new"], "never");
        throw new Error("no");
      }),
      /no/,
    );
    assert.equal((await rows.get(["new"])).value, "new");
  },
);

contract("transact() refuses when others are always faster", async (rows) => {
  let other = 0;
  await assert.rejects(
    rows.transact(async (transaction) => {
      await transaction.get(["busy"]);
      await rows.transact((faster) => faster.set(["busy"], ++other));
      transaction.set(["busy"], "mine");
    }),
    { code: "unavailable", retryAfterMs: 1000 },
  );
  assert.notEqual((await rows.get(["busy"])).value, "mine");
});

const FAULTS: readonly Partial<Faults>[] = [
  { deniedSuccess: 0.5 },
  { lostAnswer: 0.5 },
  { repeated: 0.9 },
  { locked: 0.6 },
  { deniedSuccess: 0.2, lostAnswer: 0.2, repeated: 0.3, locked: 0.2 },
];

Deno.test("transact() stores once what an unclear store takes, and tells so", async () => {
  for (const faults of FAULTS) {
    using kv = await openMemoryKv();
    const fake = createFakeKv({ kv, faults, seed: 7 });
    const rows = createRows({ backend: new KvBackend(fake), random, isUnclear: true });
    for (let i = 0; i < 40; i++) {
      await rows.transact(async (transaction) => {
        const { value } = await transaction.get<number>(["count"]);
        transaction.set(["count"], (value ?? 0) + 1);
        transaction.sum(["sum"], 1n);
      });
      await rows.transact(async (transaction) => {
        await transaction.get(["absent"]);
        transaction.delete(["absent"]); // changes nothing that is checked
        transaction.sum(["deletions"], 1n);
      });
    }
    assert.equal((await kv.get(["count"])).value, 40, JSON.stringify(faults));
    for (const counter of ["sum", "deletions"]) {
      assert.equal((await kv.get<Deno.KvU64>([counter])).value?.value, 40n, JSON.stringify(faults));
    }
    for (const [fault, share] of Object.entries(faults)) {
      assert.ok(share === 0 || fake.faultCounts[fault as keyof Faults] > 0, fault);
    }
  }
});

Deno.test("transact() stores again, some times, what checks nothing and was left unclear", async () => {
  using kv = await openMemoryKv();
  let unclear = 2;
  const fake = createFakeKv({
    kv,
    async intercept(_, run) {
      const outcome = await run();
      if (unclear-- > 0) throw new TypeError("error sending request");
      return outcome;
    },
  });
  const rows = createRows({ backend: new KvBackend(fake), random, isUnclear: true });
  const mark = () => rows.transact((transaction) => transaction.set(["mark"], 1));
  await mark();
  assert.deepEqual(fake.commits.map(({ writes }) => writes.length), [1, 1, 1]);
  unclear = 3;
  await assert.rejects(mark(), StoreFailed);
});

Deno.test("list() reads a batch anew where the database is locked in its middle, no row twice", async () => {
  using kv = await openMemoryKv();
  for (let i = 0; i < 30; i++) await kv.set(["row", i], i);
  let locks = 2;
  const flaky = {
    async *list(selector: Deno.KvListSelector, options: Deno.KvListOptions) {
      let given = 0;
      for await (const row of kv.list(selector, options)) {
        if (++given === 7 && locks-- > 0) throw new TypeError("database is locked");
        yield row;
      }
    },
  };
  const backend = new KvBackend(flaky as unknown as Deno.Kv);
  const rows = createRows({ backend, random, isUnclear: false });
  const listed = await rows.list<number>({ prefix: ["row"] }, { batchSize: 8 });
  assert.deepEqual(listed.map(({ value }) => value), Array.from({ length: 30 }, (_, i) => i));
  assert.ok(locks < 0);
});

Deno.test("list() and batches() read fewer rows at one time after a read that took too long", async () => {
  let nowMs = 0;
  const backend = new class extends MemoryBackend {
    override list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean) {
      nowMs += 300 * limit;
      const takesTooLong = 300 * limit > CALL_DEADLINE_MS;
      return takesTooLong ? new Promise<never>(() => {}) : super.list<T>(selector, limit, reverse);
    }
  }();
  const ticks = new Set<() => void>();
  const rows = createRows({
    ...{ backend, random, isUnclear: false, elapsed: () => nowMs },
    startTicker(tick) {
      ticks.add(tick);
      return () => void ticks.delete(tick);
    },
  });
  const keys = Array.from({ length: 150 }, (_, i): Deno.KvKey => ["row", i]);
  await put(rows, ...keys);
  const ways: Record<string, () => Promise<Row<unknown>[]>> = {
    list: () => rows.list({ prefix: ["row"] }),
    "list to a limit": () => rows.list({ prefix: ["row"] }, { limit: 150 }),
    "list backwards": async () =>
      (await rows.list({ prefix: ["row"] }, { reverse: true })).reverse(),
    batches: async () => (await Array.fromAsync(rows.batches({ prefix: ["row"] }))).flat(),
  };
  let refusals = 0;
  for (const [way, read] of Object.entries(ways)) {
    let found: Row<unknown>[] | undefined;
    while (found === undefined && refusals < 10) {
      const reading = read().catch((error) => {
        assert.ok(error instanceof NoAnswer);
        refusals++;
      });
      for (let second = 0; second < 20; second++) {
        for (const tick of ticks) tick();
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      found = await reading ?? undefined;
    }
    assert.deepEqual(found?.map(({ key }) => key), keys, way);
  }
  assert.ok(refusals > 0);
});
