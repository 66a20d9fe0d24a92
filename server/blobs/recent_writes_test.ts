import assert from "node:assert/strict";
import { RecentWrites } from "./recent_writes.ts";

const NAME = ["org_1", "01KT1GW6G0AWPFZ3BQRSNC2WEA"];

Deno.test("RecentWrites knows a write for ten to twenty turns, and lets it be kept as long", () => {
  for (const before of [0, 9]) {
    const recent = new RecentWrites();
    for (let i = 0; i < before; i++) recent.turn();
    assert.equal(recent.plan(NAME), false);
    recent.add(NAME);
    for (let i = 0; i < 10; i++) {
      assert.equal(recent.stateOf(NAME), i === 0 ? "written" : "planned");
      assert.equal(recent.plan(NAME), true);
      recent.turn();
    }
    assert.equal(recent.plan(NAME), true);
    for (let i = 0; i < 10; i++) recent.turn();
    assert.equal(recent.plan(NAME), false);
    assert.equal(recent.stateOf(NAME), undefined);
  }
});

Deno.test("RecentWrites refuses what was given up, in either generation", () => {
  const recent = new RecentWrites();
  recent.add(NAME);
  for (let i = 0; i < 10; i++) recent.turn();
  recent.giveUp(NAME);
  assert.equal(recent.plan(NAME), false);
  recent.add(NAME);
  recent.giveUp(NAME);
  assert.equal(recent.plan(NAME), false);
});
