/** A disk that is full, or fills up in the middle of a blob; and a store that fails its writer. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { RelayError } from "../../server/base/errors.ts";
import { BLOB_KINDS, blobTest, openBlobRig, patterned } from "../support/blob_rig.ts";
import { createFakeKv } from "../support/fake_kv.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { smallDiskOrSkip } from "../support/small_disk.ts";

const FOLDER = ["org_1", "ibx_1"];

function isUnavailable(error: unknown): boolean {
  assert.ok(error instanceof RelayError, String(error));
  assert.equal(error.code, "unavailable");
  assert.ok(error.retryAfterMs! >= 1_000);
  return true;
}

/** As a sender does that hears 503. */
async function again<T>(attempt: () => Promise<T>): Promise<T> {
  for (let i = 0;; i++) {
    try {
      return await attempt();
    } catch (error) {
      if (i === 9) throw error;
    }
  }
}

smallDiskOrSkip(
  "a disk that fills up in the middle of a blob refuses it, and has nothing of it",
  16,
  async (disk) => {
    using kv = await openMemoryKv();
    const kind = BLOB_KINDS[0];
    await using rig = await openBlobRig({ kind, kv, dataDir: join(disk.path, "data") });
    await Deno.mkdir(rig.dataDir);
    const kept = await rig.kept(FOLDER, patterned(2 ** 20));
    const large = patterned(25 * 2 ** 20);
    for (let i = 0; i < 5; i++) {
      await assert.rejects(rig.blobs.write(FOLDER, [large]), isUnavailable);
    }
    assert.equal((await rig.files()).length, 1);
    assert.deepEqual(rig.logged.map(({ event }) => event), ["blob_write_failed"], "sparsely");
    disk.fill();
    await assert.rejects(rig.blobs.write(FOLDER, [patterned(100_000)]), isUnavailable);
    assert.equal((await rig.files()).length, 1);
    assert.deepEqual(await rig.blobs.read(kept, 0), patterned(2 ** 20));
    disk.empty();
    const after = await rig.kept(FOLDER, patterned(2 ** 20, 5));
    assert.deepEqual(await rig.blobs.read(after, 0), patterned(2 ** 20, 5));
    // A full disk deletes all the same.
    await rig.commit("drop", kept);
    disk.fill();
    await rig.hours(2);
    assert.equal((await rig.files()).length, 1);
    disk.empty();
  },
);

blobTest(
  "a folder that nobody may write to refuses blobs, and reads of it are unavailable",
  async (rig) => {
    const ref = await rig.kept(FOLDER, patterned(5));
    const [path] = await rig.files();
    await Deno.remove(path!);
    await Deno.mkdir(path!);
    await assert.rejects(rig.blobs.read(ref, 0), isUnavailable);
    await Deno.remove(join(rig.dataDir, "mail"), { recursive: true });
    await Deno.writeTextFile(join(rig.dataDir, "mail"), "a file where the folder should be");
    await assert.rejects(rig.blobs.write(FOLDER, [patterned(5)]), isUnavailable);
    assert.deepEqual(rig.logged.map(({ event }) => event), [
      "blob_read_failed",
      "blob_write_failed",
    ]);
  },
  BLOB_KINDS.slice(0, 1),
);

blobTest("a folder that a sweep takes away under a writer is made again", async (rig) => {
  await rig.kept(FOLDER, patterned(5));
  await Deno.remove(join(rig.dataDir, "mail"), { recursive: true });
  const ref = await rig.kept(FOLDER, patterned(6));
  assert.deepEqual(await rig.blobs.read(ref, 0), patterned(6));
}, BLOB_KINDS.slice(0, 1));

blobTest(
  "a store that fails in the middle of a blob refuses it, and the sweep takes its parts",
  async (rig, open) => {
    const state = { left: Infinity };
    const broken = createFakeKv({
      kv: rig.kv,
      maxChecks: 100,
      intercept(commit, run) {
        const isParts = commit.writes.some(({ key }) => key[0] === "blob-part");
        if (isParts && --state.left < 0) return Promise.reject(new TypeError("disk I/O error"));
        return run();
      },
    });
    const writer = await open({ kv: broken });
    state.left = 1;
    const large = patterned(2_000_000);
    await assert.rejects(writer.blobs.write(FOLDER, [large]), isUnavailable);
    assert.equal((await rig.rows("blob-part")).length, 12);
    assert.deepEqual(writer.logged.map(({ event }) => event), ["blob_write_failed"]);
    await writer.close();
    const later = await open();
    await later.hours(3);
    assert.deepEqual(await later.stored(), []);
  },
  BLOB_KINDS.filter(({ form }) => form === "parts"),
);

blobTest(
  "a network that loses answers, denies commits and repeats them loses no blob",
  async (rig, open) => {
    const faults = { lostAnswer: 0.1, deniedSuccess: 0.1, repeated: 0.1, locked: 0.1 };
    const kv = createFakeKv({ kv: rig.kv, seed: 7, faults, maxChecks: 10 });
    const far = await open({ kv });
    for (let i = 0; i < 30; i++) {
      const bytes = patterned(i * 50_000, i + 1);
      const ref = await again(() => far.kept(FOLDER, bytes));
      assert.deepEqual(await far.blobs.read(ref, 0), bytes);
      if (i % 3 === 0) await again(() => far.commit("drop", ref));
    }
    while (await again(() => far.blobs.dropSome(FOLDER)));
    // The relay logs a sweep that fails, and goes on in the next minute.
    for (let minute = 0; minute < 240; minute++) {
      far.clock.advance(60_000);
      await far.part.everyMinute().catch(() => {});
    }
    assert.ok(Math.min(...Object.values(kv.faultCounts)) > 0, JSON.stringify(kv.faultCounts));
    assert.deepEqual(await rig.stored(), []);
    assert.deepEqual(await rig.rows("blob"), []);
    assert.deepEqual(await rig.rows("blob-deletion"), []);
  },
  BLOB_KINDS.filter(({ exclusive }) => !exclusive),
);
