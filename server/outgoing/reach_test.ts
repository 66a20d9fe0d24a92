import assert from "node:assert/strict";
import { Reach, TRIAL_MS } from "./reach.ts";

const NOW = Date.UTC(2026, 5, 1);

function lost(): Reach {
  const reach = new Reach();
  for (let i = 0; i < 5; i++) reach.failed(NOW);
  return reach;
}

Deno.test("Reach is lost after five failures in a row, not after four", () => {
  const reach = new Reach();
  for (let i = 0; i < 4; i++) reach.failed(NOW);
  assert.equal(reach.isLost, false);
  reach.reached();
  for (let i = 0; i < 4; i++) reach.failed(NOW);
  assert.equal(reach.isLost, false);
  assert.equal(reach.mayTry(NOW), true);
  reach.failed(NOW);
  assert.equal(reach.isLost, true);
  assert.equal(reach.mayTry(NOW), false);
});

Deno.test("Reach allows one trial each 30 s, and a success ends that", () => {
  const reach = lost();
  assert.equal(reach.mayTry(NOW + TRIAL_MS - 1), false);
  assert.equal(reach.mayTry(NOW + TRIAL_MS), true);
  reach.began(NOW + TRIAL_MS);
  assert.equal(reach.mayTry(NOW + TRIAL_MS), false);
  reach.failed(NOW + TRIAL_MS + 20_000);
  assert.equal(reach.mayTry(NOW + 2 * TRIAL_MS), true);
  reach.began(NOW + 2 * TRIAL_MS);
  reach.reached();
  assert.equal(reach.mayTry(NOW + 2 * TRIAL_MS), true);
});

Deno.test("Reach allows another trial where the last one tried no connection", () => {
  const reach = lost();
  reach.began(NOW + TRIAL_MS);
  reach.untried();
  assert.equal(reach.mayTry(NOW + TRIAL_MS), true);
  assert.equal(reach.isLost, true);
});

Deno.test("Reach does not wait out a clock that was set back", () => {
  assert.equal(lost().mayTry(NOW - 1), true);
});
