import assert from "node:assert/strict";
import { PublicReads } from "./public_reads.ts";
import { EMBEDDED_CAPACITY } from "../rows/store.ts";

function openTestReads() {
  const clock = { nowMs: 1_000 };
  const records = { revision: 0 };
  const store = { capacity: EMBEDDED_CAPACITY, now: () => clock.nowMs };
  let reads = 0;
  return {
    clock,
    records,
    reads: new PublicReads(store, records),
    read: () => Promise.resolve(++reads),
  };
}

Deno.test("PublicReads gives again what was read until a commit of this process or its age", async () => {
  const { clock, records, reads, read } = openTestReads();
  const recent = () => reads.recent("totals", 2_000, read);
  assert.deepEqual(await Promise.all([recent(), recent()]), [1, 1]);
  clock.nowMs += 1_999;
  assert.equal(await recent(), 1);
  clock.nowMs += 1;
  assert.equal(await recent(), 2);
  records.revision++;
  assert.equal(await recent(), 3);
  clock.nowMs -= 1; // a clock that jumps back makes nothing young
  assert.equal(await recent(), 4);
  assert.equal(await reads.recent("leaders", 2_000, read), 5);
});

Deno.test("PublicReads gives nobody what was read before a commit that had ended when they asked", async () => {
  const { records, reads } = openTestReads();
  const first = Promise.withResolvers<string>();
  const before = reads.recent("totals", 2_000, () => first.promise);
  records.revision++;
  const after = reads.recent("totals", 2_000, () => Promise.resolve("after"));
  assert.equal(await after, "after");
  first.resolve("before");
  assert.equal(await before, "before");
  assert.equal(await reads.recent("totals", 2_000, () => Promise.resolve("again")), "after");
});

Deno.test("PublicReads forgets a read that failed", async () => {
  const { reads, read } = openTestReads();
  await assert.rejects(reads.recent("totals", 2_000, () => Promise.reject(new Error("no"))), /no/);
  assert.equal(await reads.recent("totals", 2_000, read), 1);
});

Deno.test("PublicReads reads few at a time, and refuses when thousands wait", async () => {
  const { reads } = openTestReads();
  let underWay = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  const read = async () => {
    most = Math.max(most, ++underWay);
    await gate.promise;
    underWay--;
  };
  const all = Array.from({ length: 2_002 }, () => reads.run(read));
  await assert.rejects(reads.run(read), { code: "unavailable", retryAfterMs: 1000 });
  gate.resolve();
  await Promise.all(all);
  assert.equal(most, EMBEDDED_CAPACITY.groupsInFlight);
});

Deno.test("PublicReads has all wait for one read, however many others are asked for meanwhile", async () => {
  const { reads, read } = openTestReads();
  const gate = Promise.withResolvers<number>();
  const others = Array.from(
    { length: 100 },
    (_, i) => reads.recent(`page ${i}`, 2_000, () => gate.promise),
  );
  const first = reads.recent("totals", 2_000, read);
  others.push(
    ...Array.from(
      { length: 100 },
      (_, i) => reads.recent(`further ${i}`, 2_000, () => gate.promise),
    ),
  );
  const second = reads.recent("totals", 2_000, read);
  gate.resolve(0);
  assert.deepEqual(await Promise.all([first, second]), [1, 1]);
  await Promise.all(others);
});
