/** Sweeps that are held up, looks into old folders, and what processes write while others sweep. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { makeUlid } from "../../server/base/storage/rows/ulid.ts";
import { DAY_MS, HOUR_MS } from "../../server/base/time/time_units.ts";
import { BLOB_KINDS, blobTest, patterned } from "../support/blob_rig.ts";
import { createFakeKv } from "../support/fake_kv.ts";

const FOLDER = ["org_1", "ibx_1"];
const FILES = BLOB_KINDS.filter(({ form }) => form === "files");
const SHARED = BLOB_KINDS.filter(({ exclusive }) => !exclusive);

blobTest(
  "a row of the index takes no bytes that this process may be about to keep",
  async (rig) => {
    const ref = await rig.blobs.write(FOLDER, [patterned(70_000)]);
    const row = { v: 1, sizeBytes: 70_000, orphan: true };
    await rig.kv.set(["blob-deletion", rig.clock.now(), ...ref.name], row);
    await rig.minutes(1);
    await rig.commit("keep", ref);
    await rig.hours(2);
    assert.deepEqual(await rig.blobs.read(ref, 0), patterned(70_000));
    assert.deepEqual(await rig.rows("blob-deletion"), []);
  },
);

blobTest(
  "a sweep whose commit was held up while another swept counts nothing out again",
  async (rig, open) => {
    const held = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    const kv = createFakeKv({
      kv: rig.kv,
      async intercept({ writes }, run) {
        const isSweep = writes.some(({ key, kind }) =>
          key[0] === "blob-deletion" && kind === "delete"
        );
        if (!isSweep) return await run();
        held.resolve();
        await free.promise;
        return await run();
      },
    });
    const slow = await open({ kv });
    await rig.kept(FOLDER, patterned(1_000));
    await rig.commit("drop", await rig.kept(FOLDER, patterned(100)));
    rig.clock.advance(HOUR_MS);
    const sweeping = slow.minutes(1);
    await held.promise;
    rig.clock.advance(60_000); // its lease is over
    await rig.minutes(1);
    assert.equal(await rig.counted("org_1"), 1_000);
    free.resolve();
    await sweeping.catch(() => {});
    assert.equal(await rig.counted("org_1"), 1_000);
    assert.deepEqual(await rig.rows("blob-deletion"), []);
    await slow.close();
  },
  SHARED,
);

blobTest(
  "bytes that come into an old folder later are found within a day, and when the clock goes back",
  async (rig) => {
    const hours = async (count: number) => {
      for (let hour = 0; hour < count; hour++) {
        rig.clock.advance(HOUR_MS);
        await rig.minutes(1);
      }
    };
    const stray = async () => {
      const [path] = await rig.files();
      const ulid = makeUlid(rig.clock.now() - 30 * DAY_MS, rig.storage.store.random);
      const folder = join(path!, "..", "..", "..", ulid.slice(0, 5), ulid.slice(5, 6));
      await Deno.mkdir(folder, { recursive: true });
      await Deno.writeTextFile(join(folder, `org_1.ibx_1.${ulid}`), "copied");
    };
    await rig.kept(FOLDER, patterned(10));
    await hours(1);
    await stray();
    await hours(22);
    assert.equal((await rig.files()).length, 2, "no pass looks there");
    await hours(4);
    assert.equal((await rig.files()).length, 1);
    await stray();
    rig.clock.advance(-2 * HOUR_MS);
    await hours(2);
    assert.equal((await rig.files()).length, 1);
  },
  FILES.slice(0, 1),
);

blobTest(
  "a file that one process is writing is no other's to delete or to schedule",
  async (rig, open) => {
    const { rename } = Deno;
    let attempts = 0;
    const other = await open();
    Deno.rename = async (from, to) => {
      if (String(to).endsWith("/store")) return await rename(from, to);
      attempts++;
      await other.minutes(1);
      await rename(from, to);
    };
    try {
      const ref = await rig.blobs.write(FOLDER, [patterned(10)]);
      assert.equal(attempts, 1, "it was there to be named");
      await other.close();
      const third = await open();
      await third.minutes(1);
      assert.deepEqual(await rig.rows("blob-deletion"), []);
      await rig.commit("keep", ref);
    } finally {
      Object.assign(Deno, { rename });
    }
  },
  FILES.filter(({ exclusive }) => !exclusive),
);

blobTest("an empty folder stays while it may be written to, and goes later", async (rig) => {
  const folders = async () => {
    const outer = await Array.fromAsync(Deno.readDir(join(rig.dataDir, "mail")));
    const inner = outer.filter(({ isDirectory }) => isDirectory).map(({ name }) =>
      Array.fromAsync(Deno.readDir(join(rig.dataDir, "mail", name)))
    );
    return [inner.length, (await Promise.all(inner)).flat().length];
  };
  await rig.blobs.discard(await rig.blobs.write(FOLDER, [patterned(10)]));
  await rig.minutes(1);
  assert.deepEqual(await rig.files(), []);
  assert.deepEqual(await folders(), [1, 1]);
  await rig.hours(3);
  assert.equal((await folders())[1], 0);
  await rig.hours(24);
  assert.deepEqual(await folders(), [0, 0]);
}, FILES);
