import assert from "node:assert/strict";
import { isBrowser } from "./link_route.ts";

Deno.test("isBrowser() goes by Accept, User-Agent and Sec-Fetch headers, any of them", () => {
  const cases: [Record<string, string>, boolean][] = [
    [{}, false],
    [{ Accept: "*/*" }, false],
    [{ Accept: "application/xhtml+xml" }, false],
    [{ Accept: "text/html;q=0" }, false],
    [{ "User-Agent": "curl/8 Mozilla/5.0" }, false],
    [{ "User-Agent": "mozilla/5.0" }, false],
    [{ "X-Sec-Fetch-Mode": "navigate" }, false],
    [{ Accept: "TEXT/HTML" }, true],
    [{ Accept: "*/*, text/html;q=0.1" }, true],
    [{ "User-Agent": "Mozilla/5.0" }, true],
    [{ "Sec-Fetch-Anything": "" }, true],
  ];
  for (const [headers, expected] of cases) {
    const request = new Request("http://relay.test/", { headers });
    assert.equal(isBrowser(request), expected, JSON.stringify(headers));
  }
});
