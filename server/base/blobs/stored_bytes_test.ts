import assert from "node:assert/strict";
import { blobTest, patterned } from "../../../tests/support/blob_rig.ts";
import { createFakeKv } from "../../../tests/support/fake_kv.ts";
import { HOUR_MS } from "../time/time_units.ts";
import { ofFirstOwners } from "./stored_bytes.ts";

const FOLDER = ["org_1", "ibx_1"];
const OWNER = "org_1";

blobTest("a blob counts from the commit that keeps it until its bytes are gone", async (rig) => {
  const ref = await rig.blobs.write(FOLDER, [patterned(70_000), patterned(5)]);
  assert.equal(await rig.counted(OWNER), 0);
  await rig.commit("keep", ref);
  assert.equal(await rig.counted(OWNER), 70_005);
  await rig.commit("drop", ref);
  await rig.minutes(1);
  rig.clock.advance(HOUR_MS - 1);
  await rig.minutes(1);
  assert.equal(await rig.counted(OWNER), 70_005);
  assert.notDeepEqual(await rig.stored(), []);
  rig.clock.advance(1);
  await rig.minutes(1);
  assert.deepEqual(await rig.stored(), []);
  assert.equal(await rig.counted(OWNER), 0);
});

blobTest("a blob that is dropped twice is counted out once", async (rig) => {
  const ref = await rig.kept(FOLDER, patterned(100));
  await rig.kept(FOLDER, patterned(30));
  await rig.commit("drop", ref);
  rig.clock.advance(1_000);
  await rig.commit("drop", ref);
  await rig.hours(2);
  assert.equal(await rig.counted(OWNER), 30);
  await rig.commit("drop", ref); // by a process that slept meanwhile
  await rig.hours(2);
  assert.equal(await rig.counted(OWNER), 30);
  assert.equal((await rig.rows("blob-deletion")).length, 0);
});

blobTest("what a former version dropped, or kept uncounted, is not counted out", async (rig) => {
  await rig.kept(FOLDER, patterned(1_000));
  const former = await rig.kept(FOLDER, patterned(100));
  const uncounted = await rig.kept(FOLDER, patterned(200));
  const before = await rig.counted(OWNER);
  // As its commits left the store: the row of the blob went at once.
  await rig.storage.store.commit([], [
    { kind: "delete", key: ["blob", ...former.name] },
    {
      kind: "set",
      key: ["blob-deletion", rig.clock.now(), ...former.name],
      value: { v: 1, sizeBytes: 100, orphan: false },
    },
  ]);
  await rig.commit("dropUncounted", uncounted);
  await rig.hours(2);
  assert.equal(await rig.counted(OWNER), before);
  assert.equal((await rig.rows("blob-deletion")).length, 0);
  assert.equal((await rig.rows("blob")).length, 1);
});

blobTest(
  "a process that ends between bytes and count leaves too much counted, never too little",
  async (rig, open) => {
    const ref = await rig.kept(FOLDER, patterned(70_000));
    await rig.commit("drop", ref);
    await rig.close();
    rig.clock.advance(HOUR_MS);
    // Every commit that takes a row of the deletion index away is lost.
    const kv = createFakeKv({
      kv: rig.kv,
      intercept: (commit, run) =>
        commit.writes.some(({ key, kind }) => key[0] === "blob-deletion" && kind === "delete")
          ? Promise.reject(new Error("the process ends here"))
          : run(),
    });
    const dying = await open({ kv });
    await assert.rejects(dying.minutes(1));
    assert.deepEqual(await dying.stored(), []);
    assert.equal(await rig.counted(OWNER), 70_000);
    await dying.close();
    const next = await open();
    await next.minutes(1);
    assert.equal(await next.counted(OWNER), 0);
    assert.equal((await next.rows("blob-deletion")).length, 0);
  },
);

blobTest(
  "two processes that sweep at one time count all out once, of many owners",
  async (rig, open) => {
    for (let i = 0; i < 40; i++) {
      const folder = [`org_${i % 13}`, "ibx_1"];
      const [dropped] = [
        await rig.kept(folder, patterned(100 + i)),
        await rig.kept(folder, patterned(7)),
      ];
      await rig.commit("drop", dropped!);
    }
    rig.clock.advance(HOUR_MS);
    const other = await open();
    await Promise.all([rig.minutes(3), other.minutes(3)]);
    for (let i = 0; i < 13; i++) {
      assert.equal(
        await rig.counted(`org_${i}`),
        7 * [...Array(40).keys()].filter((n) => n % 13 === i).length,
      );
    }
    await other.close();
  },
  [{ form: "files", exclusive: false }, { form: "parts", exclusive: false }],
);

blobTest("of an owner that has gone nothing is counted", async (rig) => {
  const ref = await rig.kept(FOLDER, patterned(100));
  await rig.commit("drop", ref);
  await rig.kept(FOLDER, patterned(100));
  while (await rig.blobs.dropSome(FOLDER));
  assert.equal((await rig.rows("blob")).length, 0);
  await rig.forget(OWNER);
  await rig.hours(2);
  assert.deepEqual(await rig.stored(), []);
  assert.equal((await rig.rows("mail-storage")).length, 0);
});

Deno.test("ofFirstOwners() ends before a seventh owner", () => {
  const rows = ["a", "a", "b", "c", "d", "e", "f", "a", "g", "a", "h"];
  assert.deepEqual(ofFirstOwners(rows, String), rows.slice(0, 8));
  assert.deepEqual(ofFirstOwners(["a", "b"], String), ["a", "b"]);
  assert.deepEqual(ofFirstOwners([], String), []);
});

blobTest("a dropped blob of no bytes goes with its row", async (rig) => {
  const ref = await rig.kept(FOLDER, patterned(0));
  await rig.commit("drop", ref);
  await rig.hours(2);
  assert.deepEqual(await rig.rows("blob"), []);
  assert.deepEqual(await rig.stored(), []);
});

blobTest(
  "a blob that was found without a record and is dropped is counted out, though both rows were late",
  async (rig) => {
    const ref = await rig.kept(FOLDER, patterned(100));
    const [due, far] = [rig.clock.now(), rig.clock.now() + 10 * HOUR_MS];
    const row = { v: 1, sizeBytes: 100, orphan: true };
    // In either order of their times, both further ahead than a right clock writes them.
    await rig.kv.set(["blob-deletion", far, ...ref.name], {
      ...row,
      orphan: false,
      dropped: true,
    });
    await rig.kv.set(["blob-deletion", far + due, ...ref.name], row);
    await rig.hours(2);
    assert.deepEqual(await rig.rows("blob-deletion"), []);
    assert.deepEqual(await rig.rows("blob"), []);
    assert.equal(await rig.counted(OWNER), 0);
  },
);
