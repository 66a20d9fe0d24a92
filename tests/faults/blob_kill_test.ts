/** A process that is killed while it writes and keeps blobs: what was kept is whole, the rest goes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { BlobRef } from "../../server/base/blobs/blobs.ts";
import { BLOB_KINDS, kindName, openBlobRig } from "../support/blob_rig.ts";
import { createTestClock } from "../support/clock.ts";
import { seededRandom } from "../support/fake_kv.ts";
import { isLong } from "../support/long_test.ts";
import { delay } from "../support/pace.ts";
import { openKvFile } from "../support/read_through.ts";
import { spawnBlobWriter } from "../support/spawn_blob_writer.ts";

const ROUNDS = isLong ? 20 : 3;

for (const kind of BLOB_KINDS) {
  Deno.test(`kill -9 between write, commit and deletion, ${ROUNDS} rounds (${kindName(kind)})`, async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "relay-blob-kill-" });
    const random = seededRandom(26);
    const kept: BlobRef[] = [];
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const writer = spawnBlobWriter(kind, dataDir);
        await writer.hasKept(10);
        await delay(random() * 60);
        await writer.kill();
        kept.push(...writer.kept);
      }
      using kv = await openKvFile(join(dataDir, "relay.kv"));
      const clock = createTestClock(Date.now());
      await using rig = await openBlobRig({ kind, kv, dataDir, clock });
      assert.ok(kept.length >= 9 * ROUNDS);
      for (const ref of kept) {
        for (const [i, { sizeBytes }] of ref.sections.entries()) {
          assert.equal((await rig.blobs.read(ref, i)).length, sizeBytes);
        }
      }
      const before = (await rig.stored()).length;
      await rig.hours(4);
      assert.ok((await rig.stored()).length < before, "nothing was left to sweep");
      const rows = await Array.fromAsync(kv.list<{ sizeBytes: number }>({ prefix: ["blob"] }));
      // The last commits may have been made without word of them.
      assert.ok(rows.length >= kept.length && rows.length <= kept.length + 3 * ROUNDS);
      for (const ref of kept) {
        for (const i of ref.sections.keys()) await rig.blobs.read(ref, i);
      }
      const whole = kind.form === "files"
        ? rows.length
        : rows.reduce((sum, { value }) => sum + Math.ceil(value.sizeBytes / 60_000), 0);
      assert.equal((await rig.stored()).length, whole);
      assert.equal((await rig.rows("blob-deletion")).length, 0);
      assert.deepEqual(rig.logged, []);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}
