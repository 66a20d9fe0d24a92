import assert from "node:assert/strict";
import { firstCountedMinute, isCounted, isTestHandle, minuteOf } from "./counted.ts";

Deno.test("isTestHandle() knows the four prefixes with their underscore alone", () => {
  for (const handle of ["qa_a", "sim_1", "verify_x", "flood_", "qa__"]) {
    assert.equal(isTestHandle(handle), true, handle);
  }
  for (const handle of ["qa", "qaa", "simon", "verify", "a_qa_b", "floods_1", "_qa_"]) {
    assert.equal(isTestHandle(handle), false, handle);
  }
});

Deno.test("isCounted() needs both sides to be no test traffic", () => {
  assert.equal(isCounted("alice", "bob_1"), true);
  assert.equal(isCounted("qa_a", "bob_1"), false);
  assert.equal(isCounted("alice", "sim_b"), false);
});

Deno.test("firstCountedMinute() drops a minute when its last millisecond is seven days old", () => {
  const weekMs = 604_800_000;
  const minute = 30_000_000;
  const endMs = (minute + 1) * 60_000;
  assert.equal(firstCountedMinute(endMs - 1 + weekMs), minute);
  assert.equal(firstCountedMinute(endMs + weekMs), minute + 1);
  assert.equal(minuteOf(endMs - 1), minute);
});
