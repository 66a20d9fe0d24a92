import assert from "node:assert/strict";
import { readSearchQuery } from "./search_query.ts";

Deno.test("readSearchQuery() is null where both text and tags are blank", () => {
  for (const text of [undefined, "", "  ", "@", " @ ", "\n\t"]) {
    assert.equal(readSearchQuery(text, []), null);
    assert.equal(readSearchQuery(text, ["", "  "]), null);
  }
});

Deno.test("readSearchQuery() trims, drops one leading @, and lowercases", () => {
  assert.deepEqual(readSearchQuery("  @Alice_1 ", []), { text: "alice_1", tags: [] });
  assert.equal(readSearchQuery("@@x", [])!.text, "@x");
  assert.equal(readSearchQuery("ÉTÉ à Paris", [])!.text, "été à paris");
});

Deno.test("readSearchQuery() counts text in code points, 200 at most", () => {
  assert.equal(readSearchQuery("🦊".repeat(200), [])!.text, "🦊".repeat(200));
  assert.equal(readSearchQuery(`@${"a".repeat(200)}`, [])!.text.length, 200);
  for (const text of ["a".repeat(201), "🦊".repeat(201)]) {
    assert.throws(() => readSearchQuery(text, []), { code: "invalid_json", message: /200/ });
  }
});

Deno.test("readSearchQuery() cleans tags, drops blank and repeated ones, takes ten", () => {
  assert.deepEqual(readSearchQuery(undefined, [" A-1 ", "", "b", "a-1"]), {
    text: "",
    tags: ["a-1", "b"],
  });
  const ten = Array.from({ length: 10 }, (_, i) => `tag-${i}`);
  assert.deepEqual(readSearchQuery(undefined, [...ten, "tag-0"])!.tags, ten);
  for (
    const tags of [[...ten, "one-more"], ["a_b"], ["a b"], ["x".repeat(33)], ["é"], ["\u212a"]]
  ) {
    assert.throws(() => readSearchQuery("x", tags), { code: "invalid_json", message: /tags/ });
  }
});
