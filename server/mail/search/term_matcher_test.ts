import assert from "node:assert/strict";
import { termsOf } from "./search_terms.ts";
import { type Span, TermMatcher } from "./term_matcher.ts";

/** Takes all of a text. */
function take(matcher: TermMatcher, text: string, enough = 3): Span[] {
  const steps = matcher.take(text, enough);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const finds = (q: string, ...fields: string[]) => {
  const matcher = new TermMatcher(termsOf(q));
  for (const field of fields) take(matcher, field);
  return matcher.hasAll;
};

Deno.test("TermMatcher finds all terms, each in any field", () => {
  assert.ok(finds("red blue", "Red things", "and blue ones"));
  assert.equal(finds("red green", "Red things", "and blue ones"), false);
  assert.equal(finds("re", "red"), false, "whole tokens");
  assert.ok(finds("creme", "CRÈME"));
  assert.ok(finds("crème", "creme"));
});

Deno.test("TermMatcher finds phrases in one field, their tokens next to each other", () => {
  assert.ok(finds('"red blue"', "a red, blue b"));
  for (const text of ["blue red", "red x blue", "red"]) {
    assert.equal(finds('"red blue"', text), false);
  }
  assert.equal(finds('"red blue"', "red", "blue"), false, "over two fields");
  assert.ok(finds('"a a b"', "a a a b"));
  assert.ok(finds("日本語", "これは日本語です"));
  assert.equal(finds("日本語", "日本と本語"), false);
});

Deno.test("TermMatcher begins anew with each message", () => {
  const matcher = new TermMatcher(termsOf("red blue"));
  take(matcher, "red blue");
  assert.ok(matcher.hasAll);
  matcher.begin();
  take(matcher, "red");
  assert.equal(matcher.hasAll, false);
});

Deno.test("TermMatcher says where, as often as asked, and reads no further than it must", () => {
  const text = "one red two red three red blue four red";
  const matcher = new TermMatcher(termsOf("red"));
  const shown = (spans: Span[]) => spans.map(({ start, end }) => [start, text.slice(start, end)]);
  assert.deepEqual(shown(take(matcher, text, 2)), [[4, "red"], [12, "red"]]);
  assert.deepEqual(shown(take(new TermMatcher(termsOf('"red blue"')), text)), [[22, "red blue"]]);
  const steps = new TermMatcher(termsOf("word")).take("word ".repeat(1e6), 1);
  assert.equal(steps.next().done, true);
});
