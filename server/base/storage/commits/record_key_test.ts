import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { defineRecord, isRecordKey } from "./record_key.ts";

const boxKey = defineRecord<number, [string]>(["test-box"], 1);
const pairKey = defineRecord<number, [number, string]>(["test-pair"], 2);
const turnKey = defineRecord<number>(["test-log", "turn"], 0);

Deno.test("defineRecord() makes keys of its prefix and the parts given", () => {
  deepStrictEqual(boxKey("a"), ["test-box", "a"]);
  deepStrictEqual(pairKey(7, "b"), ["test-pair", 7, "b"]);
  deepStrictEqual(turnKey(), ["test-log", "turn"]);
  deepStrictEqual(["a", "b"].map(boxKey), [["test-box", "a"], ["test-box", "b"]]);
});

Deno.test("isRecordKey() knows declared records by prefix and number of parts", () => {
  for (const key of [boxKey("a"), pairKey(7, "b"), turnKey()]) strictEqual(isRecordKey(key), true);
  for (const key of [["test-box"], ["test-box", "a", 1], ["test-pair", 7], ["test-log", "other"]]) {
    strictEqual(isRecordKey(key), false, key.join("/"));
  }
  strictEqual(isRecordKey(["test-unknown", 1]), false);
});

Deno.test("defineRecord() refuses a declaration that stands already, and takes a narrower one", () => {
  throws(() => defineRecord<number, [string]>(["test-box"], 1), /declared already/);
  deepStrictEqual(defineRecord<number>(["test-box", "own"], 0)(), ["test-box", "own"]);
});
