import assert from "node:assert/strict";
import { join } from "node:path";
import { parseConfig } from "../base/config/config.ts";
import { openStore } from "./open_store.ts";

Deno.test("openStore() touches no store by an impossible clock: it would delete all that expires", async () => {
  const dir = await Deno.makeTempDir({ prefix: "open-store-" });
  try {
    const config = parseConfig({ RELAY_DATA_DIR: join(dir, "data") });
    const reports = { tell: () => {}, log: () => {}, lost: () => assert.fail() };
    for (const nowMs of [0, Date.UTC(2024, 11, 31), Date.UTC(2094, 0, 1), Date.UTC(2091, 0, 1)]) {
      await assert.rejects(
        openStore(config, nowMs, reports),
        /the clock says \d{4}-.*set it right/,
      );
      assert.deepEqual(await Array.fromAsync(Deno.readDir(dir)), []);
    }
    const store = await openStore(config, Date.UTC(2026, 0, 1), reports);
    await store.close();
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
