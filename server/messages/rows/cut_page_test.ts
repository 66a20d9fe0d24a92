import assert from "node:assert/strict";
import { cutPage } from "./cut_page.ts";

const budget = (maxBytes: number, atLeast: 0 | 1 = 1) => ({
  maxBytes,
  sizeOf: (bytes: number) => bytes,
  atLeast,
});

Deno.test("cutPage() ends before the row with which the rows would pass the budget", () => {
  assert.deepEqual(cutPage([3, 4, 5], budget(12)), {
    rows: [3, 4, 5],
    sizeBytes: 12,
    isCut: false,
  });
  assert.deepEqual(cutPage([3, 4, 5], budget(11)), { rows: [3, 4], sizeBytes: 7, isCut: true });
  // A later row that would fit again is no part of the page: the cursor would pass over the others.
  assert.deepEqual(cutPage([3, 9, 1], budget(11)), { rows: [3], sizeBytes: 3, isCut: true });
  assert.deepEqual(cutPage([], budget(11)), { rows: [], sizeBytes: 0, isCut: false });
});

Deno.test("cutPage() gives one row whatever its size, unless the page has some", () => {
  assert.deepEqual(cutPage([30, 1], budget(11)), { rows: [30], sizeBytes: 30, isCut: true });
  assert.deepEqual(cutPage([30], budget(11)), { rows: [30], sizeBytes: 30, isCut: false });
  assert.deepEqual(cutPage([30], budget(11, 0)), { rows: [], sizeBytes: 0, isCut: true });
});
