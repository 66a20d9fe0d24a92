import assert from "node:assert/strict";
import { listRows } from "./list_rows.ts";

async function withRows(body: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  for (let i = 0; i < 30; i++) await kv.set(["row", i], i);
  try {
    await body(kv);
  } finally {
    kv.close();
  }
}

Deno.test("listRows() gives the first rows that are kept, in key order, over several reads", async () => {
  await withRows(async (kv) => {
    const rows = await listRows<number>(kv, { prefix: ["row"] }, {
      limit: 6,
      batchSize: 4,
      take: ({ value }) => value % 3 === 0,
    });
    assert.deepEqual(rows.map(({ value }) => value), [0, 3, 6, 9, 12, 15]);
  });
});

Deno.test("listRows() gives all rows without a limit, and none for a limit of 0", async () => {
  await withRows(async (kv) => {
    assert.equal((await listRows(kv, { prefix: ["row"] })).length, 30);
    assert.deepEqual(await listRows(kv, { prefix: ["row"] }, { limit: 0 }), []);
  });
});

Deno.test("listRows() begins anew where the database is locked in the middle, without rows given twice", async () => {
  await withRows(async (kv) => {
    let locks = 2;
    const flaky = {
      async *list(selector: Deno.KvListSelector) {
        let given = 0;
        for await (const row of kv.list(selector)) {
          if (++given === 10 && locks-- > 0) throw new TypeError("database is locked");
          yield row;
        }
      },
    };
    const rows = await listRows<number>(flaky as unknown as Deno.Kv, { prefix: ["row"] });
    assert.deepEqual(rows.map(({ value }) => value), Array.from({ length: 30 }, (_, i) => i));
  });
});
