import assert from "node:assert/strict";
import { BoundedMap } from "./bounded_map.ts";

Deno.test("BoundedMap drops what was set longest ago, and keeps what is set again and again", () => {
  const map = new BoundedMap<number, string>(100);
  for (let i = 1; i <= 10_000; i++) {
    map.set(0, `at ${i}`);
    map.set(i, "once");
  }
  const kept = [...map.entries()].map(([key]) => key).sort((a, b) => a - b);
  assert.deepEqual(kept, [0, ...Array.from({ length: 99 }, (_, i) => 9_902 + i)]);
  assert.equal(map.get(0), "at 10000");
  for (const key of kept) map.delete(key);
  assert.deepEqual([...map.entries()], []);
  for (let i = 0; i < 101; i++) map.set(i, "anew");
  assert.deepEqual([map.get(0), map.get(1)], [undefined, "anew"]);
});
