import assert from "node:assert/strict";
import { compareStandings, selectTop } from "./ranking.ts";
import fc from "../../../tests/support/seeded_fast_check.ts";

const standing = fc.record({
  senderId: fc.nat(50),
  handle: fc.stringMatching(/^[a-z0-9_]{3,6}$/),
  count: fc.integer({ min: -2, max: 6 }),
});

Deno.test("selectTop() gives what sorting everything gives", () => {
  fc.assert(fc.property(fc.array(standing), fc.integer({ min: 1, max: 12 }), (all, limit) => {
    const expected = all.filter(({ count }) => count >= 1).sort(compareStandings).slice(0, limit);
    assert.deepEqual(selectTop(all, limit), expected);
  }));
});

Deno.test("compareStandings() puts greater counts first and ties in the order of bytes", () => {
  const of = (handle: string, count: number) => ({ senderId: 1, handle, count });
  assert.ok(compareStandings(of("zzz", 2), of("aaa", 1)) < 0);
  assert.ok(compareStandings(of("a_a", 1), of("aaa", 1)) < 0);
  assert.ok(compareStandings(of("a0a", 1), of("a_a", 1)) < 0);
  assert.equal(compareStandings(of("aaa", 1), of("aaa", 1)), 0);
});
