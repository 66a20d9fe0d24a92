import assert from "node:assert/strict";
import { lanesOf } from "./keep_stores.ts";

const size = (agents: number, messages: number) => ({ agents, messages });

Deno.test("lanesOf() has each size once, the largest ones in different lanes", () => {
  const lanes = lanesOf([size(2_000, 0), size(10, 1_000_000), size(1_000_000, 10), size(2_000, 0)]);
  assert.deepEqual(lanes, [[size(1_000_000, 10)], [size(10, 1_000_000), size(2_000, 0)]]);
});

Deno.test("lanesOf() has no empty lane", () => {
  assert.deepEqual(lanesOf([size(1, 1)]), [[size(1, 1)]]);
  assert.deepEqual(lanesOf([]), []);
});
