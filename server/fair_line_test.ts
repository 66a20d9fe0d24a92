import assert from "node:assert/strict";
import fc from "fast-check";
import { FairLine, type FairPlace } from "./fair_line.ts";

const at = (text: string): FairPlace => ({ group: text[0]!, source: text.slice(0, 2) });

/** Items are named by group, source and number. */
function lineOf(items: readonly string[], max = 100) {
  const line = new FairLine<string>(max);
  const left = items.map((item) => line.add(item, at(item)));
  return { line, left };
}

function takeAll(line: FairLine<string>, mayBegin?: (item: string) => boolean): string[] {
  const taken: string[] = [];
  for (let item = line.take(mayBegin); item !== null; item = line.take(mayBegin)) taken.push(item);
  return taken;
}

Deno.test("FairLine.take() goes round between groups, and in a group between sources", () => {
  const { line } = lineOf(["ax1", "ax2", "ax3", "ay1", "ay2", "bx1", "bx2", "cz1"]);
  assert.deepEqual(takeAll(line), ["ax1", "bx1", "cz1", "ay1", "bx2", "ax2", "ay2", "ax3"]);
  assert.deepEqual([line.length, line.has("a")], [0, false]);
});

Deno.test("FairLine.take() passes over those that may not begin, who keep their turn", () => {
  const { line } = lineOf(["ax1", "ay1", "bx1"]);
  assert.equal(line.take((item) => item !== "ax1"), "ay1");
  assert.equal(line.take(() => false), null);
  assert.deepEqual(takeAll(line), ["bx1", "ax1"]);
});

Deno.test("FairLine.add() has the newest of who brought the most leave a full line", () => {
  const { line, left } = lineOf(["ax1", "ax2", "ax3", "ay1", "bx1", "bx2", "ax4"], 5);
  assert.deepEqual(left, [null, null, null, null, null, "ax3", "ax4"]);
  assert.deepEqual(takeAll(line), ["ax1", "bx1", "ay1", "bx2", "ax2"]);
});

Deno.test("FairLine.remove() and clear() take out what has given up waiting", () => {
  const { line } = lineOf(["ax1", "ax2", "bx1"]);
  assert.equal(line.remove("ax1", at("ax1")), true);
  assert.equal(line.remove("ax1", at("ax1")), false);
  assert.deepEqual([line.length, line.has("a")], [2, true]);
  assert.deepEqual(line.clear(), ["ax2", "bx1"]);
  assert.deepEqual([line.length, line.take()], [0, null]);
});

Deno.test("FairLine gives a newcomer a turn after one of each group, whatever waits", () => {
  const groups = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 60 });
  fc.assert(fc.property(groups, (names) => {
    const { line } = lineOf(names.map((name, i) => `${name}x${i}`));
    line.add("zz0", { group: "z", source: "zz" });
    const turns = takeAll(line).indexOf("zz0");
    assert.equal(turns, new Set(names).size);
  }));
});
