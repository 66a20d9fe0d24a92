import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { highlightsOf } from "./highlights.ts";
import { tokensOf } from "./tokens.ts";

const NONE = { subject: [], text: [] };

Deno.test("highlightsOf() shows the words around, white space collapsed", () => {
  const text = "x".repeat(100) + " the\n\ndoor  code is here " + "y ".repeat(200);
  const start = text.indexOf("door");
  const { text: [fragment] } = highlightsOf({ subject: "", text }, {
    ...NONE,
    text: [{ start, end: start + 4 }],
  });
  assert.match(fragment!, /^x+ the door code is here y y/);
  assert.ok(fragment!.length <= 160);
});

Deno.test("highlightsOf() gives at most 3 fragments in all, none for what one shows already", () => {
  const text = "red ".repeat(400);
  const spans = Array.from(tokensOf(text)).slice(0, 200);
  const subject = "red is the subject";
  const both = highlightsOf({ subject, text }, { subject: [{ start: 0, end: 3 }], text: spans });
  assert.deepEqual(both.subject, [subject]);
  assert.equal(both.text.length, 2);
  assert.equal(highlightsOf({ subject, text }, { ...NONE, text: spans }).text.length, 3);
  assert.equal(
    highlightsOf({ subject, text }, { ...NONE, text: spans.slice(0, 9) }).text.length,
    1,
  );
});

Deno.test("highlightsOf() parts no pair of surrogates, and never passes 160 characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 300 }), fc.nat(299), (text, at) => {
      const { text: fragments } = highlightsOf({ subject: "", text }, {
        ...NONE,
        text: [{ start: at, end: at + 1 }],
      });
      assert.equal(fragments.length, 1);
      assert.ok(fragments[0]!.isWellFormed() && [...fragments[0]!].length <= 160);
    }),
  );
});
