import assert from "node:assert/strict";
import { CircuitBreaker, TRIAL_MS } from "./circuit_breaker.ts";

const NOW = Date.UTC(2026, 5, 1);

function lost(): CircuitBreaker {
  const breaker = new CircuitBreaker();
  for (let i = 0; i < 5; i++) breaker.failed(NOW);
  return breaker;
}

Deno.test("CircuitBreaker opens after five failures in a row, not after four", () => {
  const breaker = new CircuitBreaker();
  for (let i = 0; i < 4; i++) breaker.failed(NOW);
  assert.equal(breaker.isOpen, false);
  breaker.reached();
  for (let i = 0; i < 4; i++) breaker.failed(NOW);
  assert.equal(breaker.isOpen, false);
  assert.equal(breaker.mayTry(NOW), true);
  breaker.failed(NOW);
  assert.equal(breaker.isOpen, true);
  assert.equal(breaker.mayTry(NOW), false);
});

Deno.test("CircuitBreaker allows one trial each 30 s, and a success ends that", () => {
  const breaker = lost();
  assert.equal(breaker.mayTry(NOW + TRIAL_MS - 1), false);
  assert.equal(breaker.mayTry(NOW + TRIAL_MS), true);
  breaker.began(NOW + TRIAL_MS);
  assert.equal(breaker.mayTry(NOW + TRIAL_MS), false);
  breaker.failed(NOW + TRIAL_MS + 20_000);
  assert.equal(breaker.mayTry(NOW + 2 * TRIAL_MS), true);
  breaker.began(NOW + 2 * TRIAL_MS);
  breaker.reached();
  assert.equal(breaker.mayTry(NOW + 2 * TRIAL_MS), true);
});

Deno.test("CircuitBreaker allows another trial where the last one tried no connection", () => {
  const breaker = lost();
  breaker.began(NOW + TRIAL_MS);
  breaker.untried();
  assert.equal(breaker.mayTry(NOW + TRIAL_MS), true);
  assert.equal(breaker.isOpen, true);
});

Deno.test("CircuitBreaker does not wait out a clock that was set back", () => {
  assert.equal(lost().mayTry(NOW - 1), true);
});
