import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { hashInSlices } from "./hash_in_slices.ts";
import { sha256Of } from "./sha256_of.ts";
import { SliceClock } from "./slice_clock.ts";

const patterned = (sizeBytes: number) => Uint8Array.from({ length: sizeBytes }, (_, i) => i * 31);

Deno.test("hashInSlices() gives what hashing in one go gives, of any size", async () => {
  for (const sizeBytes of [0, 1, 65_535, 65_536, 65_537, 3_000_000]) {
    const bytes = patterned(sizeBytes);
    const expected = createHash("sha256").update(bytes).digest("hex");
    assert.equal((await hashInSlices(createHash("sha256"), bytes)).digest("hex"), expected);
    assert.equal(new Uint8Array(await sha256Of(bytes)).toHex(), expected);
    const mac = createHmac("sha256", "secret").update(bytes).digest("hex");
    assert.equal((await hashInSlices(createHmac("sha256", "secret"), bytes)).digest("hex"), mac);
  }
});

Deno.test("hashInSlices() lets others run after each slice", async () => {
  let nowMs = 0;
  let others = 0;
  let isDone = false;
  const count = () => {
    others++;
    if (!isDone) setTimeout(count);
  };
  // Half a millisecond a look: two pieces a slice.
  const clock = new SliceClock(() => (nowMs += 0.5));
  const hashing = hashInSlices(createHash("sha256"), patterned(32 * 65_536), clock);
  setTimeout(count);
  await hashing;
  isDone = true;
  assert.ok(others >= 10, `${others} turns of others`);
  await new Promise((resolve) => setTimeout(resolve, 5));
});
