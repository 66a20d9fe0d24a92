import assert from "node:assert/strict";
import { fourDigits, median, quantile, spreadOf } from "./statistics.ts";

Deno.test("quantile() is the value that the share of all values does not pass", () => {
  const ascending = Array.from({ length: 200 }, (_, i) => i + 1);
  assert.equal(quantile(ascending, 0.5), 101);
  assert.equal(quantile(ascending, 0.99), 199);
  assert.equal(quantile([7], 0.99), 7);
  assert.equal(quantile([1, 2], 1), 2);
  assert.throws(() => quantile([], 0.5), RangeError);
});

Deno.test("median() takes the middle, or the mean of both middles", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
});

Deno.test("fourDigits() keeps four significant digits", () => {
  assert.equal(fourDigits(123_456), 123_500);
  assert.equal(fourDigits(0.0123456), 0.01235);
});

Deno.test("spreadOf() is the lowest and the highest; one value has none", () => {
  assert.deepEqual(spreadOf([3, 1, 2]), { lowest: 1, highest: 3 });
  assert.equal(spreadOf([3]), undefined);
  assert.equal(spreadOf([]), undefined);
});
