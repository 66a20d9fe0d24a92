import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { countRows, writeRows } from "../../../../tests/support/expired_rows.ts";
import { clearExpired, type ClearOptions } from "./clear_expired.ts";

const NOW_MS = Date.UTC(2026, 5, 1);
const ROWS = 2_500;

/** Options for a store that Deno KV made, with one row for ever in it. */
async function withStore(test: (options: ClearOptions) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "relay.kv");
  const kv = await Deno.openKv(path);
  await kv.set(["kept"], "for ever");
  kv.close();
  try {
    await test({ path, shared: false, now: () => NOW_MS, freeBytes: () => Promise.resolve(0) });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("clearExpired() deletes what expired by the store's own rule, and no other row", async () => {
  await withStore(async (options) => {
    writeRows(options.path, { count: ROWS, expiresAtMs: NOW_MS });
    writeRows(options.path, { count: 7, expiresAtMs: NOW_MS + 1 });
    writeRows(options.path, { count: 5, expiresAtMs: -1 });
    const told: number[][] = [];
    const onProgress = (done: number, total: number) => told.push([done, total]);
    assert.equal(await clearExpired({ ...options, onProgress }), ROWS);
    assert.deepEqual(told, [[0, ROWS], [1000, ROWS], [2000, ROWS], [ROWS, ROWS]]);
    assert.deepEqual(countRows(options.path), { rows: 13, expiring: 7 });
    assert.equal(await clearExpired(options), 0);
  });
});

Deno.test("clearExpired() leaves a store that Deno KV goes on with, and has left it nothing to do", async () => {
  await withStore(async (options) => {
    writeRows(options.path, { count: ROWS, expiresAtMs: 1 });
    await clearExpired({ ...options, now: Date.now });
    assert.deepEqual(countRows(options.path), { rows: 1, expiring: 0 });
    using kv = await Deno.openKv(options.path);
    assert.equal((await kv.get(["kept"])).value, "for ever");
    assert.equal((await kv.set(["new"], 1)).ok, true);
  });
});

Deno.test("clearExpired() goes on where it was interrupted", async () => {
  await withStore(async (options) => {
    writeRows(options.path, { count: ROWS, expiresAtMs: 1 });
    const onProgress = (done: number) => {
      if (done > 0) throw new Error("killed");
    };
    await assert.rejects(clearExpired({ ...options, onProgress }), /killed/);
    assert.equal(countRows(options.path).expiring, ROWS - 1000);
    assert.equal(await clearExpired(options), ROWS - 1000);
    assert.deepEqual(countRows(options.path), { rows: 1, expiring: 0 });
  });
});

Deno.test("clearExpired() keeps the log to the size of a batch", async () => {
  await withStore(async (options) => {
    writeRows(options.path, { count: 12_000, expiresAtMs: 1 });
    let largestBytes = 0;
    const onProgress = () => {
      largestBytes = Math.max(largestBytes, Deno.statSync(`${options.path}-wal`).size);
    };
    await clearExpired({ ...options, onProgress: (done) => done > 0 && onProgress() });
    // 1,000 pages are kept before SQLite empties the log, and a batch adds a page a row and some.
    assert.ok(largestBytes < 16 * 2 ** 20, `${largestBytes} bytes`);
    assert.ok(largestBytes > 0);
  });
});

Deno.test("clearExpired() finds nothing where there is no store yet", async () => {
  await withStore(async (options) => {
    assert.equal(await clearExpired({ ...options, path: `${options.path}.none` }), 0);
    await Deno.writeFile(`${options.path}.new`, new Uint8Array());
    assert.equal(await clearExpired({ ...options, path: `${options.path}.new` }), 0);
  });
});

Deno.test("clearExpired() leaves tables of another version alone", async () => {
  await withStore(async (options) => {
    writeRows(options.path, { count: 3, expiresAtMs: 1 });
    const db = new DatabaseSync(options.path);
    db.exec("UPDATE migration_state SET version = version + 1");
    db.close();
    assert.equal(await clearExpired(options), 0);
    assert.equal(countRows(options.path).expiring, 3);
  });
});

Deno.test("clearExpired() leaves the rest to the others when one of them locks a shared file", async () => {
  await withStore(async (options) => {
    writeRows(options.path, { count: ROWS, expiresAtMs: 1 });
    const other = new DatabaseSync(options.path);
    const onProgress = (done: number) => {
      if (done === 1000) other.exec("BEGIN IMMEDIATE");
    };
    assert.equal(await clearExpired({ ...options, shared: true, onProgress }), 1000);
    other.close();
    assert.equal(countRows(options.path).expiring, ROWS - 1000);
  });
});

Deno.test("clearExpired() says what SQLite says of a file that is no database", async () => {
  await withStore(async (options) => {
    await Deno.writeFile(options.path, new Uint8Array(5000).fill(7));
    await assert.rejects(clearExpired(options), /file is not a database/);
  });
});
