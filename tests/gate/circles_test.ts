import assert from "node:assert/strict";
import { findCircles } from "./circles.ts";

Deno.test("findCircles() finds none where imports only point inward", () => {
  assert.deepEqual(findCircles([["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]), []);
});

Deno.test("findCircles() shows the shortest way round, beginning and ending at the same module", () => {
  const edges = [["c", "a"], ["a", "b"], ["b", "c"], ["b", "x"], ["x", "c"]] as const;
  assert.deepEqual(findCircles(edges), [["a", "b", "c", "a"]]);
});

Deno.test("findCircles() finds a module that imports itself", () => {
  assert.deepEqual(findCircles([["a", "a"]]), [["a", "a"]]);
});

Deno.test("findCircles() reports each group once and separate groups each", () => {
  const edges = [["b", "a"], ["a", "b"], ["d", "c"], ["c", "d"], ["a", "c"]] as const;
  assert.deepEqual(findCircles(edges), [["a", "b", "a"], ["c", "d", "c"]]);
});

Deno.test("findCircles() does not blame a module that only leads into a circle", () => {
  assert.deepEqual(findCircles([["a", "b"], ["b", "c"], ["c", "b"]]), [["b", "c", "b"]]);
});
