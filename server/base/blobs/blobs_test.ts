import assert from "node:assert/strict";
import { blobTest, filesIn, patterned } from "../../../tests/support/blob_rig.ts";
import { createFakeKv } from "../../../tests/support/fake_kv.ts";
import { RelayError } from "../errors.ts";
import { HOUR_MS, MINUTE_MS } from "../time/time_units.ts";
import { BlobDamaged, type BlobRef } from "./blobs.ts";

const FOLDER = ["org_1", "ibx_1"];

function isUnavailable(error: unknown): boolean {
  assert.ok(error instanceof RelayError);
  assert.equal(error.code, "unavailable");
  assert.ok(error.retryAfterMs! >= 1_000);
  return true;
}

blobTest("Blobs gives back each section as it was written", async (rig) => {
  const sizes = [[1], [0], [59_999, 2, 0, 60_000], [120_000], [0, 0, 3], [2_000_001, 700_000]];
  assert.ok(sizes.length > 0);
  for (const sectionSizes of sizes) {
    const sections = sectionSizes.map((sizeBytes, i) => patterned(sizeBytes, i + 1));
    const ref = await rig.blobs.write(FOLDER, sections);
    assert.deepEqual(ref.name.slice(0, -1), FOLDER);
    assert.deepEqual(ref.sections.map(({ sizeBytes }) => sizeBytes), sectionSizes);
    await rig.commit("keep", ref);
    for (const [i, section] of sections.entries()) {
      assert.deepEqual(await rig.blobs.read(ref, i), section);
    }
  }
  await assert.rejects(
    rig.blobs.read(await rig.kept(FOLDER, patterned(1)), 1),
    RangeError,
  );
});

blobTest("Blobs refuses folders that lead elsewhere", async ({ blobs }) => {
  const folders = [
    [],
    [".."],
    ["a/b"],
    ["a.b"],
    [""],
    ["x".repeat(65)],
    Array(4).fill("y".repeat(64)),
  ];
  assert.equal(folders.length, 7);
  for (const folder of folders) {
    await assert.rejects(blobs.write(folder, [patterned(1)]), TypeError);
  }
  await assert.rejects(blobs.dropSome([]), TypeError);
});

blobTest(
  "a blob that was dropped is there for an hour, and gone after it with all its rows",
  async (rig) => {
    const ref = await rig.kept(FOLDER, patterned(130_000), patterned(5));
    const other = await rig.kept(FOLDER, patterned(10, 7));
    await rig.commit("drop", ref);
    rig.clock.advance(HOUR_MS - 60_000);
    await rig.minutes(25);
    assert.equal((await rig.blobs.read(ref, 0)).length, 130_000);
    rig.clock.advance(60_000);
    await rig.minutes(1);
    await assert.rejects(rig.blobs.read(ref, 0), BlobDamaged);
    assert.deepEqual(await rig.blobs.read(other, 0), patterned(10, 7));
    assert.equal((await rig.stored()).length, 1);
    assert.equal((await rig.rows("blob-deletion")).length, 0);
    assert.equal((await rig.rows("blob")).length, 1);
  },
);

blobTest(
  "discard deletes what was written, at once, and such a blob can not be kept",
  async (rig) => {
    const ref = await rig.blobs.write(FOLDER, [patterned(70_000)]);
    await rig.blobs.discard(ref);
    assert.deepEqual(await rig.stored(), []);
    await assert.rejects(rig.commit("keep", ref), isUnavailable);
    assert.equal((await rig.rows("blob")).length, 0);
  },
);

blobTest("discard leaves a blob alone whose commit was planned: it may be stored", async (rig) => {
  const ref = await rig.kept(FOLDER, patterned(70_000));
  await rig.blobs.discard(ref);
  assert.equal((await rig.blobs.read(ref, 0)).length, 70_000);
});

blobTest(
  "discard leaves a blob alone whose commit is under way, as after a caller that has heard 503",
  async (rig, open) => {
    const { promise: isThere, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const kv = createFakeKv({
      kv: rig.kv,
      maxChecks: 100,
      async intercept(commit, run) {
        if (!commit.writes.some(({ key }) => key[0] === "blob")) return await run();
        arrive();
        await isFree;
        return await run();
      },
    });
    await rig.close();
    const slow = await open({ kv });
    const ref = await slow.blobs.write(FOLDER, [patterned(70_000)]);
    const committed = slow.commit("keep", ref);
    await isThere;
    await slow.blobs.discard(ref);
    free();
    await committed;
    assert.deepEqual(await slow.blobs.read(ref, 0), patterned(70_000));
  },
);

blobTest("a blob can be kept for ten minutes, and not later", async (rig) => {
  const [early, late] = [
    await rig.blobs.write(FOLDER, [patterned(1)]),
    await rig.blobs.write(FOLDER, [patterned(2)]),
  ];
  rig.clock.advance(10 * MINUTE_MS - 1);
  await rig.commit("keep", early);
  rig.clock.advance(1);
  await assert.rejects(rig.commit("keep", late), isUnavailable);
});

blobTest(
  "dropSome drops 10,000 blobs of a folder, a hundred a commit, and none of another",
  async (rig) => {
    const { kv } = rig;
    const ref = await rig.kept(["org_1", "ibx_2"], patterned(3));
    const elsewhere = await rig.kept(["org_10", "ibx_1"], patterned(3));
    for (let i = 0; i < 10_000; i += 500) {
      const rows = kv.atomic();
      for (let n = i; n < i + 500; n++) {
        const ulid = `01JD000000${String(n).padStart(16, "0")}`;
        rows.set(["blob", "org_1", "ibx_1", ulid], { v: 1, sizeBytes: 5 });
      }
      await rows.commit();
    }
    let commits = 1;
    while (await rig.blobs.dropSome(["org_1", "ibx_1"])) commits++;
    assert.ok(commits >= 100 && commits <= 101, `${commits} commits`);
    assert.equal((await rig.rows("blob-deletion")).length, 10_000);
    assert.equal((await rig.rows("blob")).length, 2);
    while (await rig.blobs.dropSome(["org_1"]));
    assert.deepEqual(await rig.rows("blob"), [["blob", ...elsewhere.name]]);
    rig.clock.advance(HOUR_MS);
    await rig.minutes(25);
    await assert.rejects(rig.blobs.read(ref, 0), BlobDamaged);
    assert.equal((await rig.blobs.read(elsewhere, 0)).length, 3);
    assert.equal((await rig.rows("blob-deletion")).length, 0);
  },
);

blobTest(
  "a damaged blob is told of once, and says so for itself alone",
  async (rig, _open, kind) => {
    const names = ["missing", "short", "changed"] as const;
    const refs: BlobRef[] = [];
    for (const [i] of names.entries()) {
      refs.push(await rig.kept(FOLDER, patterned(100), patterned(130_000, i + 2)));
    }
    const whole = await rig.kept(FOLDER, patterned(9));
    if (kind.form === "files") {
      const paths = refs.map(({ name }) => name.join("."));
      const files = (await filesIn(rig.dataDir)).filter((file) =>
        paths.some((path) => file.endsWith(path))
      );
      const [missing, short, changed] = paths.map((path) =>
        files.find((file) => file.endsWith(path))!
      );
      await Deno.remove(missing!);
      await Deno.truncate(short!, 130_000);
      using file = await Deno.open(changed!, { write: true });
      await file.seek(50_000, Deno.SeekMode.Start);
      await file.write(patterned(10, 99));
    } else {
      const key = (ref: number, n: number) => ["blob-part", ...refs[ref]!.name, n];
      const gone = [key(0, 0), key(0, 1), key(0, 2), key(1, 2)];
      await rig.storage.store.commit([], [
        ...gone.map((part) => ({ kind: "delete", key: part }) as const),
        { kind: "set", key: key(2, 1), value: patterned(60_000, 99) },
      ]);
    }
    for (const [i, damage] of names.entries()) {
      for (let again = 0; again < 2; again++) {
        await assert.rejects(rig.blobs.read(refs[i]!, 1), (error) => {
          assert.ok(error instanceof BlobDamaged);
          assert.equal(error.status, 500);
          assert.equal(error.code, "internal");
          assert.equal(error.damage, damage);
          assert.deepEqual(error.blob, refs[i]!.name);
          return true;
        });
      }
    }
    assert.deepEqual(await rig.blobs.read(whole, 0), patterned(9));
    assert.deepEqual(
      rig.logged.map(({ event, fields }) => [event, fields]),
      names.map((damage, i) => ["blob_damaged", { blob: refs[i]!.name.join("/"), damage }]),
    );
  },
);

blobTest("refuseWhenFull refuses mail below mailMinFreeDiskBytes", async (_rig, open) => {
  let freeBytes = 1_000;
  const measureFreeBytes = () => Promise.resolve(freeBytes);
  const full = await open({ measureFreeBytes, limits: { mailMinFreeDiskBytes: 1_001 } });
  await assert.rejects(full.blobs.refuseWhenFull(), (error) => {
    assert.match((error as Error).message, /disk is nearly full: mail/);
    return isUnavailable(error);
  });
  freeBytes = 2 * 2 ** 30;
  const ample = await open({ measureFreeBytes });
  await ample.blobs.refuseWhenFull();
}, [{ form: "files", exclusive: false }]);

blobTest("write takes hashes that the caller knows, and reads are checked by them", async (rig) => {
  const [one, two] = [patterned(70_000), patterned(20)];
  const hashed = await rig.blobs.write(FOLDER, [one, two]);
  const known = hashed.sections.map(({ sha256 }) => sha256);
  const ref = await rig.blobs.write(FOLDER, [one, two], known.slice(0, 1));
  assert.deepEqual(ref.sections, hashed.sections);
  await rig.commit("keep", ref);
  assert.deepEqual(await rig.blobs.read(ref, 0), one);
  const wrong = await rig.blobs.write(FOLDER, [one, two], [known[1]!]);
  await rig.commit("keep", wrong);
  await assert.rejects(rig.blobs.read(wrong, 0), BlobDamaged);
  assert.deepEqual(await rig.blobs.read(wrong, 1), two);
});

blobTest("large sections are hashed one after the other, in slices", async (rig) => {
  const { setTimeout } = globalThis;
  let pauses = 0;
  let [under, most] = [0, 0];
  // A slice ends by letting others run; nothing else here waits for no time at all.
  const counting = (run: () => void, ms?: number) => {
    if (ms !== undefined) return setTimeout(run, ms);
    pauses++;
    most = Math.max(most, ++under);
    return setTimeout(() => {
      under--;
      run();
    });
  };
  Object.assign(globalThis, { setTimeout: counting });
  try {
    const large = patterned(8 * 2 ** 20);
    const refs = await Promise.all([1, 2, 3].map(() => rig.blobs.write(FOLDER, [large, large])));
    await Promise.all(refs.map((ref) => rig.blobs.read(ref, 1)));
  } finally {
    Object.assign(globalThis, { setTimeout });
  }
  assert.ok(pauses > 9, `${pauses} slices`);
  assert.equal(most, 1);
}, [{ form: "files", exclusive: true }]);
