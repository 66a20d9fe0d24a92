import assert from "node:assert/strict";
import { createDatabaseProbe } from "./health.ts";

Deno.test("createDatabaseProbe() finds an open database alive and a closed one dead", async () => {
  const kv = await Deno.openKv(":memory:");
  const probe = createDatabaseProbe(kv);
  assert.equal(await probe(), true);
  kv.close();
  assert.equal(await probe(), false);
});

Deno.test("createDatabaseProbe() finds a failing read dead, and alive again later", async () => {
  let fails = true;
  const probe = createDatabaseProbe({
    get: () => fails ? Promise.reject(new Error("locked")) : Promise.resolve({} as never),
  });
  assert.equal(await probe(), false);
  fails = false;
  assert.equal(await probe(), true);
});

Deno.test("createDatabaseProbe() gives up in time and shares one read among callers", async () => {
  let reads = 0;
  const probe = createDatabaseProbe({
    get: () => {
      reads++;
      return new Promise(() => {});
    },
  }, 20);
  assert.deepEqual(await Promise.all([probe(), probe(), probe()]), [false, false, false]);
  assert.equal(reads, 1);
});
