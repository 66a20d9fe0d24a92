import assert from "node:assert/strict";
import { ToolArguments } from "./tool_arguments.ts";

const INVALID = (message: RegExp) => ({ code: "invalid_json", message });

Deno.test("ToolArguments refuses names that the tool does not have, and tells the ones it has", () => {
  assert.throws(
    () => new ToolArguments({ a: 1, c: 2 }, ["a", "b"]),
    INVALID(/no argument "c"; known are: a, b/),
  );
  const inherited = JSON.parse('{"__proto__": 1}');
  assert.throws(() => new ToolArguments(inherited, ["a"]), INVALID(/"__proto__"/));
  const many = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`${i}`.repeat(999), i]));
  assert.throws(() => new ToolArguments(many, ["a"]), INVALID(/^[^]{1,500}known are: a$/));
});

Deno.test("ToolArguments refuses text with half of a surrogate pair, in lists too", () => {
  for (const value of ["\ud800", "a\udc00b", ["fine", "\ud83d"]]) {
    assert.throws(() => new ToolArguments({ a: value }, ["a"]), INVALID(/a must be Unicode/));
  }
  assert.equal(new ToolArguments({ a: "\ud83d\ude00" }, ["a"]).string("a", ""), "\u{1f600}");
});

Deno.test("ToolArguments.choice() takes one of some words, and the first where none is given", () => {
  const read = (a: unknown) => new ToolArguments({ a }, ["a"]).choice("a", ["in", "all"]);
  assert.deepEqual([undefined, null, "", "in", "all"].map(read), ["in", "in", "in", "in", "all"]);
  assert.throws(() => read("out"), INVALID(/^a must be in or all$/));
  assert.throws(() => read(1), INVALID(/^a must be a string: in or all$/));
});

Deno.test("ToolArguments takes null for absent where an argument is optional", () => {
  const given = new ToolArguments({ a: null }, ["a"]);
  assert.equal(given.raw("a"), null);
  assert.equal(given.optionalString("a", ""), undefined);
  assert.equal(given.optionalStrings("a", ""), undefined);
  assert.equal(given.optionalInteger("a", 0, 9), undefined);
  assert.equal(given.integer("a", 0, 9, 5), 5);
  assert.equal(given.flag("a"), false);
  assert.throws(() => given.string("a", "a name"), INVALID(/a is required: a name/));
});

Deno.test("ToolArguments.filledString() takes an empty string for absent", () => {
  const read = (a: unknown) => new ToolArguments({ a }, ["a"]).filledString("a", "text");
  assert.deepEqual([null, undefined, "", " ", "x"].map(read), [
    ...[undefined, undefined, undefined],
    ...[" ", "x"],
  ]);
  assert.throws(() => read(0), INVALID(/a must be a string: text/));
});

Deno.test("ToolArguments clamps integers and refuses everything else", () => {
  const read = (a: unknown) => new ToolArguments({ a }, ["a"]).integer("a", 1, 9, 5);
  assert.deepEqual([-4, 0, 1, 7, 9, 10, 1e300].map(read), [1, 1, 1, 7, 9, 9, 9]);
  for (const value of [1.5, "1", true, [], {}]) {
    assert.throws(() => read(value), INVALID(/a must be an integer from 1 to 9/));
  }
});
