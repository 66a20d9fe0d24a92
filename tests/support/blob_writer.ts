/**
 * A process that writes and keeps blobs without an end, for tests that kill it. Each line it prints is
 * the ref of a blob that was kept. Arguments: form, exclusive or shared, data folder, store.
 */
import { createTestClock } from "./clock.ts";
import { BLOB_KINDS, openBlobRig, patterned } from "./blob_rig.ts";

const [form, use, dataDir, kvPath] = Deno.args;
const kind = BLOB_KINDS.find((one) =>
  one.form === form && one.exclusive === (use === "exclusive")
)!;
const kv = await Deno.openKv(kvPath);
const rig = await openBlobRig({ kind, kv, dataDir: dataDir!, clock: createTestClock(Date.now()) });
rig.part.start!();

async function lane(number: number): Promise<never> {
  for (let i = 0;; i++) {
    rig.clock.set(Date.now());
    const sections = [
      patterned(100 + (i * 37_123) % 300_000, i + 1),
      patterned(i % 50, number + 1),
    ];
    const ref = await rig.blobs.write([`org_${number}`, "ibx_1"], sections);
    if (i % 5 === 4) continue; // as when a commit is refused
    await rig.commit("keep", ref);
    if (i % 7 === 6) {
      await rig.commit("drop", ref);
      continue;
    }
    await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(ref) + "\n"));
  }
}
await Promise.all([0, 1, 2].map(lane));
