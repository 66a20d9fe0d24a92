import assert from "node:assert/strict";
import { namesType } from "./names_type.ts";

Deno.test("namesType() goes by a type that stands word for word, and is wanted", () => {
  const cases: [string, boolean][] = [
    ["", false],
    ["*/*", false],
    ["application/*", false],
    ["application/jsonp", false],
    ["application/problem+json", false],
    ["text/html, application/xhtml+xml", false],
    ["application/json", true],
    ["APPLICATION/JSON ; charset=utf-8", true],
    ["text/plain, application/json;q=0.1", true],
    ["application/json;q=0", false],
    ["application/json; q=0.000", false],
    ["application/json; q=0; v=1", false],
    ["application/json;q=0.001", true],
  ];
  for (const [accept, expected] of cases) {
    const request = new Request("http://relay.test/", { headers: { accept } });
    assert.equal(namesType(request, "application/json"), expected, accept);
  }
});
