/** Whether the files beside a store are its own: marks that are another's, empty, or not there. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { BlobDamaged } from "../../server/base/blobs/blobs.ts";
import { BLOB_KINDS, blobTest, patterned } from "../support/blob_rig.ts";
import { openMemoryKv } from "../support/read_through.ts";

const FOLDER = ["org_1", "ibx_1"];
const FILES = BLOB_KINDS.filter(({ form }) => form === "files");

blobTest("files of another store are left alone, and a start says so", async (rig, open) => {
  const ref = await rig.kept(FOLDER, patterned(10));
  await rig.close();
  {
    using empty = await openMemoryKv();
    const stranger = await open({ kv: empty });
    assert.match(stranger.part.notes!.join(), /mail files .*of another store: they are left alone/);
    const own = await stranger.kept(FOLDER, patterned(20));
    await stranger.commit("drop", own);
    await stranger.hours(4);
    assert.equal((await rig.files()).length, 1, "its own it deletes");
    await stranger.close();
    const again = await open({ kv: empty });
    assert.equal(again.part.notes!.length, 1, "it stays another's");
    await again.close();
  }
  const right = await open();
  assert.deepEqual(right.part.notes, []);
  await right.hours(4);
  assert.deepEqual(await right.blobs.read(ref, 0), patterned(10));
}, FILES);

blobTest(
  "mail that a relay takes beside files of another store does not make those its own",
  async (rig, open) => {
    const theirs = await rig.kept(FOLDER, patterned(10));
    await rig.close();
    {
      using empty = await openMemoryKv();
      const stranger = await open({ kv: empty });
      const kept = await stranger.kept(FOLDER, patterned(20));
      await stranger.close();
      const again = await open({ kv: empty });
      assert.match(again.part.notes!.join(), /of another store: they are left alone/);
      await again.hours(4);
      assert.equal((await rig.files()).length, 2);
      await again.close();
      // As docs/operations.md says: the mark alone, to give the others up.
      await Deno.remove(join(rig.dataDir, "mail", "store"));
      const alone = await open({ kv: empty });
      assert.deepEqual(alone.part.notes, []);
      await alone.hours(4);
      assert.deepEqual(await alone.blobs.read(kept, 0), patterned(20));
      assert.equal((await rig.files()).length, 1);
      await alone.close();
    }
    const left = await open();
    await assert.rejects(left.blobs.read(theirs, 0), BlobDamaged);
  },
  FILES,
);

blobTest("a mark beside files that the store names becomes the store's", async (rig, open) => {
  const ref = await rig.kept(FOLDER, patterned(10));
  await rig.blobs.write(FOLDER, [patterned(30)]); // nobody keeps it
  await rig.close();
  const mark = join(rig.dataDir, "mail", "store");
  for (const row of [{ v: 1, id: "of a copy" }, null]) {
    await Deno.writeTextFile(mark, `another ${row?.id}\n`);
    if (row === null) await rig.kv.delete(["meta", "blob-files"]); // as a former version left it
    const next = await open();
    assert.deepEqual(next.part.notes, []);
    await next.hours(4);
    assert.deepEqual(await next.blobs.read(ref, 0), patterned(10));
    assert.equal((await next.files()).length, 1);
    assert.equal(await Deno.readTextFile(mark), `another ${row?.id}\n`);
    await next.close();
  }
}, FILES);

blobTest("a mark that a power cut has left empty counts as none", async (rig, open) => {
  const mark = join(rig.dataDir, "mail", "store");
  const ref = await rig.kept(FOLDER, patterned(10));
  const before = await Deno.readTextFile(mark);
  await rig.close();
  for (const empty of ["", "\n"]) {
    await Deno.writeTextFile(mark, empty);
    const next = await open();
    assert.deepEqual(next.part.notes, []);
    await next.kept(FOLDER, patterned(20));
    assert.equal(await Deno.readTextFile(mark), before, "written with the first file");
    assert.deepEqual(await next.blobs.read(ref, 0), patterned(10));
    await next.close();
  }
}, FILES);
