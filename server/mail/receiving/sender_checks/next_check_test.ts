import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { newestOfMost, nextCheck } from "./next_check.ts";

/** Named by org, source and number. */
const member = (name: string) => ({ name, party: { org: name[0]!, source: name.slice(0, 2) } });
const members = (names: string) => names.split(" ").filter((name) => name !== "").map(member);
const next = (waiting: string, underWay: string, places = 64) =>
  nextCheck(members(waiting), members(underWay), places)?.name ?? null;

Deno.test("nextCheck() is the oldest of who has the fewest places", () => {
  assert.equal(next("ax1 ax2 bx1", ""), "ax1");
  assert.equal(next("ax1 ax2 bx1", "ax0"), "bx1");
  assert.equal(next("ax1 ay1 ay2", "ax0"), "ay1");
  assert.equal(next("ax1 ay1 bx1", "ax0 bx0 bx2"), "ay1");
  assert.equal(next("", "ax0"), null);
});

Deno.test("nextCheck() leaves a place for others, however much somebody brings", () => {
  assert.equal(next("ax3", "ax1 ax2", 8), "ax3");
  assert.equal(next("ax4", "ax1 ax2 ax3", 8), null);
  assert.equal(next("ax4 ay1", "ax1 ax2 ax3", 8), "ay1");
  assert.equal(next("ay2", "ax1 ax2 ax3 ay1", 8), null);
  assert.equal(next("ay2 bz1", "ax1 ax2 ax3 ay1", 8), "bz1");
  const brought = fc.array(
    fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("x", "y", "z")),
    {
      maxLength: 200,
    },
  );
  fc.assert(fc.property(brought, fc.integer({ min: 16, max: 64 }), (pairs, places) => {
    const waiting = pairs.map(([org, source], i) => member(`${org}${source}${i}`));
    const underWay: typeof waiting = [];
    for (let one = nextCheck(waiting, underWay, places); one !== null;) {
      underWay.push(...waiting.splice(waiting.indexOf(one), 1));
      one = nextCheck(waiting, underWay, places);
    }
    const innocent = member("iw0");
    assert.equal(nextCheck([...waiting, innocent], underWay, places), innocent);
  }));
});

Deno.test("newestOfMost() is of who has brought the most", () => {
  const of = (waiting: string) => newestOfMost(members(waiting)).name;
  assert.equal(of("ax1"), "ax1");
  assert.equal(of("ax1 ax2 bx1"), "ax2");
  assert.equal(of("ax1 ay1 ax2 ay2 ax3 by1 by2 by3 by4"), "ax3");
  assert.equal(of("ax1 bx1"), "bx1");
});
