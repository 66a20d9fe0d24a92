/** Bytes between their write and their commit, whose process stands still while another sweeps. */
import assert from "node:assert/strict";
import { DAY_MS, HOUR_MS } from "../../server/base/time/time_units.ts";
import { BLOB_KINDS, blobTest, patterned } from "../support/blob_rig.ts";
import { createTestClock } from "../support/clock.ts";
import { createFakeKv } from "../support/fake_kv.ts";

const FOLDER = ["org_1", "ibx_1"];
const SHARED = BLOB_KINDS.filter(({ exclusive }) => !exclusive);
const isUnavailable = { code: "unavailable" };

blobTest(
  "a process that was frozen keeps nothing of what another has swept meanwhile",
  async (rig, open) => {
    for (const leapMs of [0, -DAY_MS]) {
      const clock = createTestClock(rig.clock.now());
      const frozen = await open({ clock });
      const ref = await frozen.blobs.write(FOLDER, [patterned(70_000)]);
      await rig.hours(4);
      assert.deepEqual(await rig.stored(), []);
      clock.advance(4 * HOUR_MS);
      clock.leap(leapMs);
      await assert.rejects(frozen.commit("keep", ref), isUnavailable);
      assert.deepEqual(await rig.rows("blob"), []);
      await frozen.close();
    }
  },
  SHARED,
);

blobTest(
  "a commit that was frozen on its way keeps nothing of what another process has swept meanwhile",
  async (rig, open) => {
    const held = Promise.withResolvers<void>();
    const whenReady = Promise.withResolvers<void>();
    const clock = createTestClock(rig.clock.now());
    const outcomes: boolean[] = [];
    const kv = createFakeKv({
      kv: rig.kv,
      async intercept({ writes }, run) {
        if (!writes.some(({ key, kind }) => key[0] === "blob" && kind === "set")) {
          return await run();
        }
        held.resolve();
        await whenReady.promise;
        const outcome = await run();
        outcomes.push(outcome.ok);
        return outcome;
      },
    });
    const frozen = await open({ kv, clock });
    const ref = await frozen.blobs.write(FOLDER, [patterned(70_000)]);
    const keeping = assert.rejects(frozen.commit("keep", ref), isUnavailable);
    await held.promise;
    await rig.hours(4);
    assert.deepEqual(await rig.stored(), []);
    clock.advance(4 * HOUR_MS);
    whenReady.resolve();
    await keeping;
    assert.deepEqual(outcomes, [false], "it came to the store, and was refused there");
    assert.deepEqual(await rig.rows("blob"), []);
    assert.equal(await rig.counted("org_1"), 0);
    await frozen.close();
  },
  SHARED,
);

blobTest(
  "a commit that keeps bytes while another process is about to sweep them keeps them whole",
  async (rig, open) => {
    const clock = createTestClock(rig.clock.now());
    const meanwhile: { keep?: () => Promise<void> } = {};
    const kv = createFakeKv({
      kv: rig.kv,
      async intercept({ writes }, run) {
        const forbids = writes.some(({ value }) => (value as { sweeps?: number })?.sweeps === 1);
        if (forbids) await meanwhile.keep?.();
        return await run();
      },
    });
    const sweeping = await open({ kv });
    const slow = await open({ clock });
    const ref = await slow.blobs.write(FOLDER, [patterned(70_000)]);
    let commits = 0;
    meanwhile.keep = async () => {
      if (commits++ === 0) await slow.commit("keep", ref);
    };
    await sweeping.hours(4);
    assert.ok(commits > 0);
    assert.equal((await slow.blobs.read(ref, 0)).length, 70_000);
    assert.deepEqual(await rig.rows("blob-deletion"), []);
    await slow.close();
    await sweeping.close();
  },
  SHARED,
);

blobTest(
  "a sweep of bytes whose owner has no record leaves one that ends by itself",
  async (rig, open) => {
    const kv = createFakeKv({ kv: rig.kv });
    const sweeping = await open({ kv });
    await sweeping.blobs.write(FOLDER, [patterned(10)]);
    await sweeping.hours(4);
    const written = kv.commits.flatMap(({ writes }) => writes)
      .filter(({ key }) => key[0] === "mail-storage");
    assert.equal(written.length, 1);
    assert.equal((written[0]!.value as { bytes: number }).bytes, 0);
    assert.equal(written[0]!.expireIn, 30 * DAY_MS);
    // What is kept of that owner later counts for good.
    const ref = await sweeping.kept(FOLDER, patterned(20));
    assert.equal(await rig.counted("org_1"), 20);
    assert.equal(
      kv.commits.at(-1)!.writes.find(({ key }) => key[0] === "mail-storage")!.expireIn,
      undefined,
    );
    assert.equal((await sweeping.blobs.read(ref, 0)).length, 20);
  },
  SHARED,
);

blobTest(
  "what is swept of an owner that has gone leaves no record for good",
  async (rig, open) => {
    const kv = createFakeKv({ kv: rig.kv });
    const sweeping = await open({ kv });
    const ref = await sweeping.kept(FOLDER, patterned(20));
    await sweeping.blobs.write(FOLDER, [patterned(10)]); // unowned
    await sweeping.hours(1.5);
    await sweeping.commit("drop", ref);
    await sweeping.forget("org_1");
    const before = kv.commits.length;
    await sweeping.hours(3);
    await sweeping.blobs.write(FOLDER, [patterned(10)]);
    await sweeping.hours(3);
    assert.deepEqual(await rig.rows("blob-deletion"), []);
    const written = kv.commits.slice(before).flatMap(({ writes }) => writes)
      .filter(({ key }) => key[0] === "mail-storage");
    assert.deepEqual(written.map(({ expireIn }) => expireIn), [30 * DAY_MS, 30 * DAY_MS]);
  },
  SHARED,
);
