import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { growLog } from "./grow_log.ts";

const LOG_BYTES = 4 * 2 ** 20;

async function withOpenStore(test: (kv: Deno.Kv, path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "relay.kv");
  const kv = await Deno.openKv(path);
  await kv.set(["kept"], "for ever");
  try {
    await test(kv, path);
  } finally {
    kv.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const logSize = (path: string) => Deno.statSync(`${path}-wal`).size;

async function keysOf(kv: Deno.Kv): Promise<Deno.KvKey[]> {
  return (await Array.fromAsync(kv.list({ prefix: [] }))).map(({ key }) => key);
}

Deno.test("growLog() makes the log longer, changes nothing in the store, and the log keeps its length", async () => {
  await withOpenStore(async (kv, path) => {
    growLog(path, LOG_BYTES);
    const grown = logSize(path);
    assert.ok(grown >= LOG_BYTES, `${grown} bytes`);
    assert.ok(Deno.statSync(path).size < LOG_BYTES);
    assert.deepEqual(await keysOf(kv), [["kept"]]);
    for (let i = 0; i < 20; i++) await kv.set(["more", i], new Uint8Array(60_000));
    assert.equal((await kv.get(["kept"])).value, "for ever");
    assert.equal(logSize(path), grown);
  });
});

Deno.test("growLog() does nothing while another connection writes", async () => {
  await withOpenStore((_, path) => {
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    growLog(path, LOG_BYTES);
    other.close();
    assert.ok(logSize(path) < LOG_BYTES);
    return Promise.resolve();
  });
});
