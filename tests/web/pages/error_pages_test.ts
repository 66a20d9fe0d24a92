/** Refusals where people go: pages for browsers, JSON for programs and at every path of the API. */
import assert from "node:assert/strict";
import { RelayError } from "../../../server/base/errors.ts";
import type { Route } from "../../../server/base/http/routes/route.ts";
import { type Answer, ask, assertRefused } from "../../support/answer.ts";
import { startApp } from "../../support/app_server.ts";
import { startTestRelay } from "../../support/relay.ts";

/** As a browser sends it. */
const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

function assertErrorPage(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.equal(answer.headers.get("access-control-allow-origin"), null);
  assert.match(
    answer.headers.get("content-security-policy")!,
    /^default-src 'none'; style-src 'self'/,
  );
  assert.ok(answer.text.includes(`<code>${code}</code>`), answer.text);
  assert.ok(answer.text.includes(`>${answer.headers.get("x-request-id")}</code>`));
  for (const target of ["/", "/docs"]) assert.ok(answer.text.includes(`href="${target}"`));
}

Deno.test("an unknown path is a page for browsers and JSON for programs", async () => {
  await using relay = await startTestRelay();
  for (const path of ["/nothing", "/docs/", "/v1x", "/%zz", "/.well-known/x", "//v1/x"]) {
    assertErrorPage(await ask(relay.url + path, { headers: BROWSER }), 404, "not_found");
    assertErrorPage(
      await ask(relay.url + path, { method: "POST", body: "x", headers: BROWSER }),
      404,
      "not_found",
    );
    for (const accept of ["*/*", "application/json", "text/html;q=0"]) {
      assertRefused(await ask(relay.url + path, { headers: { accept } }), "not_found");
    }
    const head = await ask(relay.url + path, { method: "HEAD", headers: BROWSER });
    assert.deepEqual([head.status, head.text], [404, ""]);
    assert.ok(Number(head.headers.get("content-length")) > 500);
  }
});

Deno.test("refusals at paths of the API are JSON, whatever Accept names", async () => {
  await using relay = await startTestRelay();
  const paths = ["/v1", "/v1/", "/v1/nothing", "/V1/stats", "/mcp/", "/mcp/x", "/openapi.json/"];
  for (const path of [...paths, "/health/", "/health/x", "/v1/agents/nobody", "/assets/x.css"]) {
    assertRefused(await ask(relay.url + path, { headers: BROWSER }), "not_found");
  }
  assertRefused(await ask(`${relay.url}/v1/whoami`, { headers: BROWSER }), "unknown_token");
  for (const path of ["/v1/inbox", "/mcp", "/openapi.json", "/health"]) {
    const answer = await ask(relay.url + path, { method: "DELETE", headers: BROWSER });
    assertRefused(answer, "method_not_allowed");
  }
});

Deno.test("refusals of pages are pages, with the headers of the JSON", async () => {
  await using relay = await startTestRelay();
  const wrong = await ask(`${relay.url}/`, { method: "DELETE", headers: BROWSER });
  assertErrorPage(wrong, 405, "method_not_allowed");
  assert.equal(wrong.headers.get("allow"), "GET, HEAD, OPTIONS");
  assert.equal(wrong.headers.get("vary"), "Accept");
  const choices = `${relay.url}/v1/notifications`;
  assertErrorPage(await ask(choices, { headers: BROWSER }), 400, "invalid_json");
  assertRefused(await ask(choices), "invalid_json");
  for (const path of ["unsubscribe", "stop"]) {
    const press = { method: "POST", headers: BROWSER };
    assertErrorPage(await ask(`${choices}/${path}`, press), 400, "invalid_json");
    assertRefused(await ask(`${choices}/${path}`, { method: "POST" }), "invalid_json");
  }
  // The link of mail programs says one line of text to everybody, and refuses in JSON.
  const link = await ask(`${choices}/unsubscribe`, { headers: BROWSER });
  assertRefused(link, "invalid_json");
});

Deno.test("what fails inside a page tells people the request id alone", async () => {
  const routes: Route[] = [
    {
      method: "GET",
      path: "/broken",
      page: true,
      cors: "none",
      handle: () => {
        throw new Error("secret of the inside");
      },
    },
    {
      method: "GET",
      path: "/hostile",
      page: true,
      cors: "none",
      handle: () => Promise.reject(new RelayError("forbidden", `<script>x</script> \u202e`)),
    },
  ];
  await using app = await startApp(routes);
  const broken = await ask(`${app.url}/broken`, { headers: BROWSER });
  assertErrorPage(broken, 500, "internal");
  assert.doesNotMatch(broken.text, /secret/);
  assert.equal(app.logged.length, 1);
  const hostile = await ask(`${app.url}/hostile`, { headers: BROWSER });
  assertErrorPage(hostile, 403, "forbidden");
  assert.match(hostile.text, /<bdi>&lt;script&gt;x&lt;\/script&gt; \\u\{202e\}\.<\/bdi>/);
});
