import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { BoundedPage, type PageBounds } from "./bounded_page.ts";

const bounds = (maxBytes: number, more: Partial<PageBounds<number>> = {}) => ({
  maxBytes,
  sizeOf: (bytes: number) => bytes,
  ...more,
});

function pageOf(rows: number[], given: PageBounds<number>) {
  const page = new BoundedPage(given).add(rows);
  return { rows: page.rows, sizeBytes: page.sizeBytes, isCut: page.isCut, hasMore: page.hasMore };
}

Deno.test("BoundedPage ends before the row with which the rows would pass the bytes", () => {
  const whole = { isCut: false, hasMore: false };
  const cut = { isCut: true, hasMore: true };
  assert.deepEqual(pageOf([3, 4, 5], bounds(12)), { rows: [3, 4, 5], sizeBytes: 12, ...whole });
  assert.deepEqual(pageOf([3, 4, 5], bounds(11)), { rows: [3, 4], sizeBytes: 7, ...cut });
  // A later row that would fit again is no part of the page: the cursor would pass over the others.
  assert.deepEqual(pageOf([3, 9, 1], bounds(11)), { rows: [3], sizeBytes: 3, ...cut });
  assert.deepEqual(pageOf([], bounds(11)), { rows: [], sizeBytes: 0, ...whole });
});

Deno.test("BoundedPage gives one row whatever its size, unless it follows others", () => {
  assert.deepEqual(pageOf([30, 1], bounds(11)).rows, [30]);
  assert.equal(pageOf([30, 1], bounds(11)).isCut, true);
  assert.equal(pageOf([30], bounds(11)).isCut, false);
  assert.deepEqual(pageOf([30], bounds(11, { atLeast: 0 })), {
    rows: [],
    sizeBytes: 0,
    isCut: true,
    hasMore: true,
  });
});

Deno.test("BoundedPage has more, but is not cut, where the limit of rows left one out", () => {
  const given = bounds(100, { limit: 2 });
  assert.deepEqual(pageOf([1, 2], given), {
    rows: [1, 2],
    sizeBytes: 3,
    isCut: false,
    hasMore: false,
  });
  assert.deepEqual(pageOf([1, 2, 3], given), {
    rows: [1, 2],
    sizeBytes: 3,
    isCut: false,
    hasMore: true,
  });
});

Deno.test("BoundedPage takes nothing behind a row that it left out", () => {
  const page = new BoundedPage(bounds(10)).add([4, 7]);
  assert.equal(page.isFull, true);
  assert.deepEqual(page.add([1]).rows, [4]);
});

Deno.test("BoundedPage takes rows by pieces as it takes them at once, also by pages of what is left", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 30 });
  const parts = fc.integer({ min: 1, max: 7 });
  const limits = fc.integer({ min: 1, max: 30 });
  fc.assert(fc.property(sizes, parts, limits, (rows, step, limit) => {
    const given = bounds(60, { limit });
    const inPieces = new BoundedPage(given);
    const byPages = new BoundedPage(given);
    for (let at = 0; at < rows.length; at += step) {
      const some = rows.slice(at, at + step);
      inPieces.add(some);
      if (byPages.isFull) continue;
      const next = new BoundedPage(byPages.left).add(some);
      byPages.add(next.rows);
      if (next.isCut) byPages.cut();
    }
    const atOnce = pageOf(rows, given);
    const { sizeBytes, isCut, hasMore } = inPieces;
    assert.deepEqual({ rows: inPieces.rows, sizeBytes, isCut, hasMore }, atOnce);
    assert.deepEqual([byPages.rows, byPages.isCut], [atOnce.rows, atOnce.isCut]);
  }));
});
