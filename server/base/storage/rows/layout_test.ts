import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createFakeKv } from "../../../../tests/support/fake_kv.ts";
import { silentStore } from "../../../../tests/support/silent_store.ts";
import { CALL_DEADLINE_MS, NoAnswer } from "./call_deadline.ts";
import { KvBackend } from "../deno_kv/kv_backend.ts";
import { LAYOUT_VERSION, NewerLayout, openAddressKey, openLayout } from "./layout.ts";
import { createRows, type RowsOptions } from "./rows.ts";

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

const rowsOn = (kv: Deno.Kv, given: Pick<RowsOptions, "startTicker"> = {}) =>
  createRows({ backend: new KvBackend(kv), random, isUnclear: true, ...given });

async function withKv(body: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await openMemoryKv();
  try {
    await body(kv);
  } finally {
    kv.close();
  }
}

Deno.test("openLayout() marks a new store with its version and opens it again", async () => {
  await withKv(async (kv) => {
    await openLayout(new KvBackend(kv), true);
    assert.deepEqual((await kv.get(["meta", "layout"])).value, { version: LAYOUT_VERSION });
    await openLayout(new KvBackend(kv), true);
  });
});

Deno.test("openLayout() refuses the store of a later version and leaves it alone", async () => {
  await withKv(async (kv) => {
    await kv.set(["meta", "layout"], { version: LAYOUT_VERSION + 1 });
    await assert.rejects(openLayout(new KvBackend(kv), true), NewerLayout);
    assert.deepEqual((await kv.get(["meta", "layout"])).value, { version: LAYOUT_VERSION + 1 });
  });
});

Deno.test("openLayout() raises an older store where this process alone writes it, and no other", async () => {
  await withKv(async (kv) => {
    const version = async () => (await kv.get(["meta", "layout"])).value;
    await openLayout(new KvBackend(kv), false);
    assert.deepEqual(await version(), { version: 1 });
    await openLayout(new KvBackend(kv), true);
    assert.deepEqual(await version(), { version: LAYOUT_VERSION });
    await openLayout(new KvBackend(kv), false);
    assert.deepEqual(await version(), { version: LAYOUT_VERSION });
    await kv.set(["meta", "layout"], { version: LAYOUT_VERSION + 1 });
    await assert.rejects(openLayout(new KvBackend(kv), false), NewerLayout);
  });
});

Deno.test("openAddressKey() makes one secret a store, whoever asks first and however its commits go", async () => {
  await withKv(async (kv) => {
    const processes = Array.from(
      { length: 8 },
      (_, seed) => createFakeKv({ kv, seed, faults: { deniedSuccess: 0.5, locked: 0.2 } }),
    );
    const keys = await Promise.all(processes.map((fake) => openAddressKey(rowsOn(fake), random)));
    for (const key of keys) assert.deepEqual(key, keys[0]);
    assert.equal(keys[0]!.length, 32);
  });
});

Deno.test("openAddressKey() ends a start whose store does not answer any more", async () => {
  await withKv(async (kv) => {
    for (const answered of [0, 1]) {
      const silent = silentStore(kv);
      let tick = () => {};
      const startTicker = (given: () => void) => {
        tick = given;
        return () => {};
      };
      silent.fallSilentAfter(answered);
      const reached = silent.reached();
      const refused = assert.rejects(
        openAddressKey(rowsOn(silent.kv, { startTicker }), random),
        NoAnswer,
      );
      await reached;
      for (let passedMs = 0; passedMs < CALL_DEADLINE_MS; passedMs += 1000) tick();
      await refused;
    }
  });
});
