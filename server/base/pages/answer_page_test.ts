import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { answerPage } from "./answer_page.ts";
import { answerErrorPage } from "./error_page.ts";

Deno.test("answerPage() lets a page load from the relay alone, and lets nobody keep it", async () => {
  const answer = answerPage("<p>é</p>");
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.fromEntries(answer.headers), {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
      "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  });
  assert.equal(await answer.text(), "<p>é</p>");
});

Deno.test("answerPage() takes a status, a referrer policy for checked forms, and headers that win", () => {
  const { status, headers } = answerPage("x", {
    status: 410,
    referrerPolicy: "same-origin",
    headers: { "Cache-Control": "no-cache", Vary: "Accept" },
  });
  assert.equal(status, 410);
  assert.equal(headers.get("referrer-policy"), "same-origin");
  assert.equal(headers.get("cache-control"), "no-cache");
  assert.equal(headers.get("vary"), "Accept");
});

Deno.test("answerErrorPage() says message, code and request id, with the headers of the refusal", async () => {
  const refusal = new RelayError("rate_limited", "wait <a bit>", { retryAfterMs: 61_000 });
  const answer = await answerErrorPage(refusal, "id-7");
  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get("retry-after"), "61");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const page = await answer.text();
  assert.match(page, /<h1><bdi>Too many requests<\/bdi><\/h1>/);
  for (
    const part of ["Wait &lt;a bit&gt;.", "<code>rate_limited</code>", ">id-7<", 'href="/docs"']
  ) {
    assert.ok(page.includes(part), part);
  }
});
