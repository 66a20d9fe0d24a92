import assert from "node:assert/strict";
import { BodyBudget } from "./body_budget.ts";

const BOUNDS = { totalBytes: 3200, smallBytes: 100, smallTotalBytes: 800 };

/** A budget by a clock that the test moves, and the names of dropped bodies in their order. */
function movableBudget() {
  const state = { nowMs: 0 };
  const dropped: string[] = [];
  const budget = new BodyBudget(() => state.nowMs, BOUNDS);
  const begin = (name: string, address = name) => ({
    beganMs: state.nowMs,
    addressOf: () => address,
    drop: () => void dropped.push(name),
  });
  return { state, dropped, budget, begin };
}

Deno.test("BodyBudget drops the slowest body when the room is full, and not the one that came fast", () => {
  const { state, dropped, budget, begin } = movableBudget();
  const slow = begin("slow");
  state.nowMs = 1000;
  const quick = begin("quick");
  budget.grow(slow, 385);
  budget.grow(quick, 385);
  state.nowMs = 5000;
  for (let i = 0; i < 6; i++) budget.grow(begin(`new ${i}`), 385);
  assert.deepEqual(dropped, []);
  budget.grow(begin("last"), 385);
  assert.deepEqual(dropped, ["slow"]);
  budget.grow(begin("one more"), 385);
  assert.deepEqual(dropped, ["slow", "quick"]);
});

Deno.test("BodyBudget drops no whole body, but what comes on top of whole ones", () => {
  const { dropped, budget, begin } = movableBudget();
  for (let i = 0; i < 8; i++) {
    const whole = begin(`whole ${i}`);
    budget.grow(whole, 400);
    budget.finish(whole);
  }
  budget.grow(begin("late"), 400);
  assert.deepEqual(dropped, ["late"]);
});

Deno.test("BodyBudget leaves an address an eighth once half is used, and drops its slowest for more", () => {
  const { state, dropped, budget, begin } = movableBudget();
  const [first, second] = [begin("first", "greedy"), begin("second", "greedy")];
  budget.grow(first, 800);
  budget.grow(second, 800);
  state.nowMs = 3000;
  assert.deepEqual(dropped, [], "half of the room may be one address's");
  budget.grow(begin("other"), 150);
  assert.deepEqual(dropped, [], "another's bytes drop nothing");
  budget.grow(second, 101);
  assert.deepEqual(dropped, ["first"]);
});

Deno.test("BodyBudget keeps room for small bodies that large ones cannot take", () => {
  const { dropped, budget, begin } = movableBudget();
  for (let i = 0; i < 8; i++) budget.grow(begin(`large ${i}`), 400);
  for (let i = 0; i < 8; i++) budget.grow(begin(`small ${i}`), 96);
  assert.deepEqual(dropped, []);
  const growing = begin("growing");
  budget.grow(growing, 50);
  assert.deepEqual([...dropped], ["growing"], "the small ones' room is full");
});

Deno.test("BodyBudget forgets what is released, and counts nothing for bodies of which nothing came", () => {
  const { dropped, budget, begin } = movableBudget();
  for (let i = 0; i < 10_000; i++) begin(`announced ${i}`);
  for (let i = 0; i < 100; i++) {
    const body = begin(`body ${i}`);
    budget.grow(body, 400);
    budget.release(body);
    budget.release(body);
  }
  assert.deepEqual(dropped, []);
});

Deno.test("BodyBudget takes one body larger than its room when there is no other", () => {
  const { dropped, budget, begin } = movableBudget();
  budget.grow(begin("huge"), 4000);
  assert.deepEqual(dropped, []);
});
