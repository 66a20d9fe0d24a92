import assert from "node:assert/strict";
import { longestWaitMs, retryWaitMs } from "./retry_waits.ts";

const SHORTER = { waitsMs: [1_000, 20_000, 10_000] };
const EITHER = { ...SHORTER, orLonger: true };
const waits = (rule: typeof EITHER | typeof SHORTER, byte: number) =>
  [0, 1, 2, 3, 4, 1e6].map((attempts) =>
    retryWaitMs(rule, attempts, { random: () => Uint8Array.of(byte) })
  );

Deno.test("retryWaitMs() takes the n-th wait, then the last one, up to a tenth shorter", () => {
  assert.deepEqual(waits(SHORTER, 0), [1_000, 1_000, 20_000, 10_000, 10_000, 10_000]);
  assert.deepEqual(waits(SHORTER, 128), [950, 950, 19_000, 9_500, 9_500, 9_500]);
  assert.deepEqual(waits(SHORTER, 255), [900, 900, 18_008, 9_004, 9_004, 9_004]);
});

Deno.test("retryWaitMs() takes waits up to a tenth shorter or longer where it may", () => {
  assert.deepEqual(waits(EITHER, 0), [1_100, 1_100, 22_000, 11_000, 11_000, 11_000]);
  assert.deepEqual(waits(EITHER, 128), [1_000, 1_000, 20_000, 10_000, 10_000, 10_000]);
  assert.deepEqual(waits(EITHER, 255), [901, 901, 18_016, 9_008, 9_008, 9_008]);
});

Deno.test("longestWaitMs() is passed by none", () => {
  assert.equal(longestWaitMs(SHORTER), 20_000);
  assert.equal(longestWaitMs(EITHER), 22_000);
});
