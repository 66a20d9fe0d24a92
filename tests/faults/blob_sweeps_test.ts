/** Bytes that no record names, and deletions: processes that end, clocks that move, copies that do not fit. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { BlobDamaged } from "../../server/base/blobs/blobs.ts";
import { DAY_MS, HOUR_MS } from "../../server/base/time/time_units.ts";
import { createTestClock } from "../support/clock.ts";
import { delay } from "../support/pace.ts";
import { BLOB_KINDS, blobTest, filesIn, patterned } from "../support/blob_rig.ts";
import { openMemoryKv } from "../support/read_through.ts";

const FOLDER = ["org_1", "ibx_1"];
const FILES = BLOB_KINDS.filter(({ form }) => form === "files");
const SHARED = BLOB_KINDS.filter(({ exclusive }) => !exclusive);
const isUnavailable = { code: "unavailable" };

blobTest(
  "bytes that no commit has kept are swept, not before an hour, and kept ones stay",
  async (rig, open, kind) => {
    await rig.blobs.write(FOLDER, [patterned(200_000)]);
    const kept = await rig.kept(FOLDER, patterned(70_000));
    const before = await rig.stored();
    await rig.close(); // the process ends between write and commit
    const next = await open();
    next.part.start!();
    rig.clock.advance(HOUR_MS - 60_000);
    await next.minutes(1);
    assert.deepEqual(await next.stored(), before);
    await next.hours(3);
    assert.deepEqual(await next.blobs.read(kept, 0), patterned(70_000));
    // Files: one of two; parts: two of the kept blob.
    assert.equal((await next.stored()).length, kind.form === "files" ? 1 : 2);
    assert.deepEqual(await next.rows("blob"), [["blob", ...kept.name]]);
    assert.equal((await next.rows("blob-deletion")).length, 0);
    assert.equal((await next.rows("blob-pending")).length, 0);
  },
);

blobTest(
  "a clock that leaps by hours, a day or a year takes no bytes from what is kept",
  async (rig) => {
    const leaps = [2 * HOUR_MS, DAY_MS, 365 * DAY_MS, -2 * HOUR_MS, -400 * DAY_MS];
    assert.equal(leaps.length, 5);
    const kept = [];
    for (const leapMs of leaps) {
      const ref = await rig.blobs.write(FOLDER, [patterned(70_000)]);
      rig.clock.leap(leapMs);
      await rig.minutes(1);
      // Ahead, its own clocks cannot tell whether another process has swept it.
      if (leapMs > 0) await assert.rejects(rig.commit("keep", ref), isUnavailable);
      else {
        await rig.commit("keep", ref);
        kept.push(ref);
      }
      await rig.hours(3);
    }
    assert.equal(kept.length, 2);
    for (const ref of kept) assert.equal((await rig.blobs.read(ref, 0)).length, 70_000);
    await rig.hours(3);
    assert.equal((await rig.rows("blob-deletion")).length, 0);
    assert.equal((await rig.rows("blob")).length, 2);
  },
);

blobTest(
  "another process whose clock is hours ahead or behind takes no blob from its commit",
  async (rig, open) => {
    const jumps = [5 * HOUR_MS, -5 * HOUR_MS];
    assert.equal(jumps.length, 2);
    for (const jumpMs of jumps) {
      const ref = await rig.blobs.write(FOLDER, [patterned(70_000)]);
      const other = await open({ clock: createTestClock(rig.clock.now() + jumpMs) });
      await other.minutes(3);
      assert.equal((await rig.rows("blob-deletion")).length, 1, "it looked like nobody's");
      await rig.commit("keep", ref);
      await other.hours(2);
      assert.equal((await other.blobs.read(ref, 0)).length, 70_000);
      assert.equal((await rig.rows("blob-deletion")).length, 0);
      await other.close();
    }
  },
  SHARED,
);

blobTest("bytes written by a clock that was a year ahead do not wait a year", async (rig, open) => {
  rig.clock.advance(365 * DAY_MS);
  await rig.blobs.write(FOLDER, [patterned(10)]);
  const dropped = await rig.kept(FOLDER, patterned(70_000));
  await rig.commit("drop", dropped);
  await rig.close();
  rig.clock.advance(-365 * DAY_MS);
  const next = await open();
  await next.minutes(1);
  assert.equal((await next.blobs.read(dropped, 0)).length, 70_000, "an hour it waits all the same");
  await next.hours(3);
  assert.deepEqual(await next.stored(), []);
  assert.equal((await next.rows("blob-deletion")).length, 0);
});

blobTest("two processes sweep at one time, and all that is due goes once", async (rig, open) => {
  const kept = [];
  for (let i = 0; i < 60; i++) {
    await rig.blobs.write(FOLDER, [patterned(1 + i)]);
    const ref = await rig.kept(FOLDER, patterned(100 + i));
    if (i % 2 === 0) await rig.commit("drop", ref);
    else kept.push(ref);
  }
  await rig.close();
  rig.clock.advance(2 * HOUR_MS);
  const [a, b] = [await open(), await open()];
  for (let hour = 0; hour < 3; hour++) {
    await Promise.all([a.minutes(2), b.minutes(2)]);
    rig.clock.advance(HOUR_MS);
  }
  assert.equal(kept.length, 30);
  for (const ref of kept) assert.ok((await a.blobs.read(ref, 0)).length >= 100);
  const stored = await a.stored();
  assert.equal(stored.length, 30);
  assert.equal((await a.rows("blob-deletion")).length, 0);
}, SHARED);

blobTest("close() ends a sweep after its step, and the next process goes on", async (rig, open) => {
  for (let i = 0; i < 300; i++) {
    const ref = await rig.kept(FOLDER, patterned(10));
    await rig.commit("drop", ref);
  }
  rig.clock.advance(HOUR_MS);
  const working = rig.part.everyMinute();
  await new Promise((resolve) => setTimeout(resolve));
  await rig.close();
  await working;
  const left = (await rig.rows("blob-deletion")).length;
  assert.ok(left > 0, "the sweep was not under way any more");
  const next = await open();
  await next.hours(3);
  assert.equal((await next.rows("blob-deletion")).length, 0);
  assert.deepEqual(await next.stored(), []);
});

blobTest(
  "an older store sweeps the blobs that it does not know, a newer one says which are missing",
  async (rig, open) => {
    const first = await rig.kept(FOLDER, patterned(100));
    const rows = await Array.fromAsync(rig.kv.list({ prefix: [] }));
    rig.clock.advance(1); // names sort by time
    const second = await rig.kept(FOLDER, patterned(200));
    const third = await rig.kept(FOLDER, patterned(300));
    await rig.close();
    // The store as it was after the first, beside the files of all.
    using older = await openMemoryKv();
    for (const { key, value } of rows) await older.set(key, value);
    const restored = await open({ kv: older });
    await restored.hours(4);
    assert.equal((await restored.stored()).length, 1);
    assert.equal((await restored.blobs.read(first, 0)).length, 100);
    await restored.close();
    // Now the newer store beside the files of the first, one of them cut.
    const [path] = await rig.files();
    await Deno.truncate(path!, 50);
    const newer = await open();
    newer.part.start!();
    while (newer.logged.length === 0) await delay(5);
    assert.deepEqual(newer.logged, [{
      event: "blobs_missing",
      fields: { checked: 3, missing: 2, other_size: 1, example: first.name.join("/") },
    }]);
    for (const ref of [first, second, third]) {
      await assert.rejects(newer.blobs.read(ref, 0), BlobDamaged);
    }
  },
  FILES.slice(0, 1),
);

blobTest(
  "bytes of a dropped blob are not missing: they go before its row does",
  async (rig, open) => {
    const [kept, dropped] = [
      await rig.kept(FOLDER, patterned(10)),
      await rig.kept(FOLDER, patterned(20)),
    ];
    await rig.commit("drop", dropped);
    await rig.close();
    // As a sweep leaves it that has yet to commit, be it killed or another process's.
    const files = await rig.files();
    for (const ref of [kept, dropped]) {
      await Deno.remove(files.find((file) => file.endsWith(ref.name.join(".")))!);
    }
    const later = await open();
    later.part.start!();
    while (later.logged.length === 0) await delay(5);
    assert.deepEqual(later.logged, [{
      event: "blobs_missing",
      fields: { checked: 2, missing: 1, other_size: 0, example: kept.name.join("/") },
    }]);
  },
  FILES.slice(0, 1),
);

blobTest("files and folders of somebody else's stay, unfinished and empty ones go", async (rig) => {
  const ref = await rig.kept(FOLDER, patterned(10));
  const root = join(rig.dataDir, "mail");
  const [file] = await rig.files();
  const folder = join(file!, "..");
  const name = file!.split("/").at(-1)!;
  const others = [join(root, "README"), join(folder, "notes.txt"), join(root, "lost+found", "x")];
  await Deno.mkdir(join(root, "lost+found"));
  for (const other of others) await Deno.writeTextFile(other, "mine");
  const unfinished = join(folder, `${name.replace(/.$/, (last) => last === "Z" ? "Y" : "Z")}.tmp`);
  await Deno.writeTextFile(unfinished, "torn");
  const empty = join(root, "01JD5", "7");
  await Deno.mkdir(empty, { recursive: true });
  await rig.hours(3);
  assert.deepEqual(await rig.files(), [file!, ...others].sort());
  assert.equal((await rig.blobs.read(ref, 0)).length, 10);
  await assert.rejects(Deno.stat(join(root, "01JD5")), Deno.errors.NotFound);
  const { mode } = await Deno.stat(file!);
  assert.equal(mode! & 0o777, 0o600);
  assert.equal((await Deno.stat(root)).mode! & 0o777, 0o700);
  assert.equal((await Deno.stat(folder)).mode! & 0o777, 0o700);
}, FILES);

blobTest(
  "what cannot be deleted is told of, tried again in an hour, and holds up nothing else",
  async (rig) => {
    const stuck = await rig.kept(FOLDER, patterned(10));
    const other = await rig.kept(FOLDER, patterned(20));
    const [path] = (await filesIn(rig.dataDir)).filter((file) =>
      file.endsWith(stuck.name.join("."))
    );
    await Deno.remove(path!);
    await Deno.mkdir(join(path!, "full"), { recursive: true });
    await rig.commit("drop", stuck, other);
    rig.clock.advance(HOUR_MS);
    await rig.minutes(1);
    assert.deepEqual(rig.logged.map(({ event }) => event), ["blob_deletion_failed"]);
    assert.equal((await rig.rows("blob-deletion")).length, 1);
    assert.equal((await rig.files()).length, 0);
    await Deno.remove(join(path!, "full"));
    await rig.hours(1);
    assert.equal((await rig.rows("blob-deletion")).length, 0);
  },
  FILES,
);

blobTest("a file that is being written stays, though the clock leaps", async (rig) => {
  const { rename } = Deno;
  let attempts = 0;
  Deno.rename = async (from, to) => {
    if (String(to).endsWith("/store")) return await rename(from, to);
    attempts++;
    rig.clock.leap(attempts === 1 ? 5 * HOUR_MS : -5 * HOUR_MS);
    rig.storage.store.clock.observe();
    rig.clock.advance(60_000); // the new time is taken for right
    await rig.minutes(1);
    await rename(from, to);
  };
  try {
    const ahead = await rig.blobs.write(FOLDER, [patterned(10)]);
    assert.deepEqual(await rig.blobs.read(ahead, 0), patterned(10));
    const back = await rig.blobs.write(FOLDER, [patterned(20)]);
    await rig.commit("keep", back);
    assert.deepEqual(await rig.blobs.read(back, 0), patterned(20));
    assert.equal(attempts, 2);
  } finally {
    Object.assign(Deno, { rename });
  }
}, FILES);

blobTest(
  "a blob that others found old by the clock stays, once it is kept",
  async (rig, open) => {
    const ref = await rig.blobs.write(FOLDER, [patterned(10)]);
    rig.clock.leap(2 * HOUR_MS);
    const other = await open();
    await other.minutes(1);
    assert.equal((await rig.rows("blob-deletion")).length, 1);
    await rig.minutes(1);
    rig.clock.leap(-2 * HOUR_MS);
    await rig.commit("keep", ref);
    await rig.hours(4);
    assert.deepEqual(await rig.blobs.read(ref, 0), patterned(10));
  },
  SHARED,
);
