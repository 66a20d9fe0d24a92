import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { FreeDisk } from "./free_disk.ts";

Deno.test("FreeDisk refuses writes with 503 and Retry-After below the limit, not at it", async () => {
  let freeBytes = 512;
  let nowMs = 0;
  const disk = new FreeDisk(() => Promise.resolve(freeBytes), 512, () => nowMs);
  await disk.refresh();
  disk.refuseWhenFull();
  freeBytes = 511;
  await disk.refresh();
  assert.throws(() => disk.refuseWhenFull(), (error) => {
    assert.ok(error instanceof RelayError);
    assert.equal(error.status, 503);
    assert.equal(error.code, "unavailable");
    assert.ok(error.retryAfterMs! >= 1000);
    return true;
  });
  nowMs = 1;
});

Deno.test("FreeDisk measures again when the last measurement is old, one at a time", async () => {
  let freeBytes = 0;
  let nowMs = 0;
  let measurements = 0;
  const disk = new FreeDisk(
    () => {
      measurements++;
      return Promise.resolve(freeBytes);
    },
    1,
    () => nowMs,
  );
  await disk.refresh();
  freeBytes = 100;
  assert.throws(() => disk.refuseWhenFull());
  assert.equal(measurements, 1);
  nowMs = 3_000;
  assert.throws(() => disk.refuseWhenFull()); // by what is known; the measurement has begun
  assert.throws(() => disk.refuseWhenFull());
  assert.equal(measurements, 2);
  await Promise.resolve();
  await Promise.resolve();
  disk.refuseWhenFull();
});

Deno.test("FreeDisk calls no disk full that cannot be measured, and none that is not ours", async () => {
  const broken = new FreeDisk(() => Promise.reject(new Error("no statfs here")), 1);
  await broken.refresh();
  broken.refuseWhenFull();
  const elsewhere = new FreeDisk(null, 1);
  await elsewhere.refresh();
  elsewhere.refuseWhenFull();
});
