import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { FreeDisk } from "./free_disk.ts";

Deno.test("FreeDisk refuses writes with 503 and Retry-After below the limit, not at it", async () => {
  let freeBytes = 512;
  const disk = new FreeDisk(() => Promise.resolve(freeBytes), 512, () => 0);
  await disk.refresh();
  await disk.refuseWhenFull();
  freeBytes = 511;
  await disk.refresh();
  await assert.rejects(disk.refuseWhenFull(), (error) => {
    assert.ok(error instanceof RelayError);
    assert.equal(error.status, 503);
    assert.equal(error.code, "unavailable");
    assert.ok(error.retryAfterMs! >= 1000);
    return true;
  });
});

Deno.test("FreeDisk refuses nothing by an old measurement, and lets nothing wait for one where there was room", async () => {
  let nowMs = 0;
  const measurements: ((freeBytes: number) => void)[] = [];
  const measure = () => new Promise<number>((resolve) => measurements.push(resolve));
  const disk = new FreeDisk(measure, 1, () => nowMs);
  const first = disk.refresh();
  measurements[0]!(0);
  await first;
  await assert.rejects(disk.refuseWhenFull());
  assert.equal(measurements.length, 1);
  nowMs = 3_000;
  const judged = [disk.refuseWhenFull(), disk.refuseWhenFull()];
  assert.equal(measurements.length, 2, "one measurement for both");
  measurements[1]!(100);
  await Promise.all(judged);
  nowMs = 6_000;
  await disk.refuseWhenFull();
  assert.equal(measurements.length, 3, "it has begun");
  const begun = disk.refresh();
  measurements[2]!(0);
  await begun;
  await assert.rejects(disk.refuseWhenFull());
});

Deno.test("FreeDisk treats no disk as full that cannot be measured or is not on this machine", async () => {
  const broken = new FreeDisk(() => Promise.reject(new Error("no statfs here")), 1);
  await broken.refresh();
  await broken.refuseWhenFull();
  const elsewhere = new FreeDisk(null, 1);
  await elsewhere.refresh();
  await elsewhere.refuseWhenFull();
});
