/** What every route outside mail answers to methods and origins, and that no other spelling reaches one. */
import assert from "node:assert/strict";
import type { Declaration } from "../../../server/base/description/declaration.ts";
import { MAIL_ROUTES } from "../../../server/mail/routes.ts";
import { TOOL_ROUTES } from "../../../server/messaging/tools/routes.ts";
import { ROUTES } from "../../../server/routes.ts";
import { ask, assertErrorShape, assertRefused } from "../../support/answer.ts";
import { askRaw } from "../../support/raw_request.ts";
import { startTestRelay } from "../../support/relay.ts";

/** What stands in a path for its parameters. */
const PARAMETERS: Record<string, readonly string[]> = {
  "/v1/agents/{identifier}": ["/v1/agents/someone", "/v1/agents/me"],
  "/agents/{handle}": ["/agents/someone"],
  "/v1/messages/{id}/signed-request": ["/v1/messages/5/signed-request"],
  "/assets/{file}": ["/assets/nothing"],
  "/docs/{file}": ["/docs/start", "/docs/try"],
  "/docs/{folder}/{file}": ["/docs/reference/readInbox"],
};

/** Paths of routes that the description has not, and their methods. */
const UNDESCRIBED: [string, string[]][] = [
  ["/admin", ["GET"]],
  ["/admin/ban", ["POST"]],
  ["/inbox", ["GET"]],
  ["/inbox/5", ["GET"]],
  ["/inbox/5/message.json", ["GET"]],
  ["/inbox/sign-out", ["GET", "POST"]],
];

/** What scripts of any origin may call: no page, no file of one, and nothing of the operator's. */
const OPEN = /^\/($|health|openapi\.json$|v1\/(?!admin\/|notifications$|notifications\/stop$))/;

/** Every path outside mail with its methods; those of tools answer as their protocol has it (tools/access_test.ts). */
function listPaths(): [string, string[]][] {
  const methods = new Map<string, string[]>(UNDESCRIBED);
  const others = new Set<Declaration>([...MAIL_ROUTES, ...TOOL_ROUTES]);
  for (const { method, path } of ROUTES.filter((route) => !others.has(route))) {
    const paths = PARAMETERS[path] ?? [path];
    assert.ok(paths.every((one) => !one.includes("{")), `${path}: name one in PARAMETERS`);
    for (const one of paths) methods.set(one, [...methods.get(one) ?? [], method]);
  }
  return [...methods].map((
    [path, own],
  ) => [path, [...own, ...own.includes("GET") ? ["HEAD"] : [], "OPTIONS"]]);
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

Deno.test("each route answers 405 with all its methods in Allow, 204 to OPTIONS, and CORS or none", async () => {
  await using relay = await startTestRelay();
  const paths = listPaths();
  assert.ok(paths.length > 30);
  for (const [path, methods] of paths) {
    const url = `${relay.url}${path}`;
    const open = OPEN.test(path) ? "*" : null;
    for (const method of METHODS) {
      if (methods.includes(method)) continue;
      const answer = await ask(url, { method });
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.deepEqual(answer.headers.get("allow")?.split(", ").sort(), [...methods].sort(), path);
      if (method !== "HEAD") assertRefused(answer, "method_not_allowed");
      else assert.equal(answer.text, "");
      assert.equal(answer.headers.get("access-control-allow-origin"), open, path);
    }
    const options = await ask(url, {
      method: "OPTIONS",
      headers: {
        Origin: "https://any.example",
        "Access-Control-Request-Method": methods[0]!,
        "Access-Control-Request-Headers": "x-relay-pubkey, authorization, idempotency-key",
      },
    });
    assert.equal(options.status, 204, path);
    assert.equal(options.text, "");
    assert.equal(options.headers.get("access-control-allow-origin"), open, path);
    assert.equal(options.headers.get("access-control-allow-credentials"), null);
    if (open !== null) {
      const allowed = options.headers.get("access-control-allow-headers")!.toLowerCase();
      for (
        const name of [
          "authorization",
          "content-type",
          "idempotency-key",
          "x-relay-pubkey",
          "x-relay-timestamp",
          "x-relay-signature",
          "mcp-protocol-version",
        ]
      ) {
        assert.ok(allowed.includes(name), `${path}: ${name}`);
      }
    }
    if (!methods.includes("GET")) continue;
    const get = await ask(url);
    const head = await ask(url, { method: "HEAD" });
    assert.equal(head.status, get.status, path);
    assert.equal(head.text, "");
    assert.equal(head.headers.get("content-type"), get.headers.get("content-type"), path);
    assert.equal(get.headers.get("access-control-allow-origin"), open, path);
    if (open !== null) {
      const exposed = get.headers.get("access-control-expose-headers") ?? "";
      for (const name of ["X-Request-Id", "Retry-After", "Idempotent-Replayed", "Allow"]) {
        assert.ok(exposed.toLowerCase().includes(name.toLowerCase()), `${path} ${name}`);
      }
    }
  }
});

Deno.test("all routes are of the kinds that the fast router takes", async () => {
  await using relay = await startTestRelay();
  assert.equal((await ask(`${relay.url}/health`)).status, 200);
  // The other router is slower for every request, and fails on methods such as "constructor".
  assert.equal(relay.relay.app.router.name, "SmartRouter + RegExpRouter");
});

Deno.test("paths match their literal spelling alone", async () => {
  await using relay = await startTestRelay();
  for (
    const target of [
      "/v1/stats/",
      "/V1/stats",
      "//v1/stats",
      "/v1//stats",
      "/v1/%73tats",
      "/v1/../v1/stats",
      "/v1/./stats",
      "/v1",
      "/v1/",
      "/v1/agents/",
      "/v1/agents/a/b",
      "/v1/agents/a%2Fb",
      "/v1/agents/%zz",
      "/v1/agents/%ff",
      "/v1/agents/%00abc",
      "/v1/agents/%20abc",
      "/v1/nothing",
      "/v1/mail",
      "/v1/mail/nothing",
      "/v1/mail/inboxes/",
      "/v1/mail/inboxes/a/b",
      "/mcp/mail/",
      "/favicon",
    ]
  ) {
    for (const method of ["GET", "OPTIONS", "POST"]) {
      const answer = await askRaw(relay.port, { method, target });
      if (target.startsWith("/v1/agents/%") || target === "/v1/agents/a%2Fb") {
        // A look-up of an impossible agent: the route exists.
        if (method !== "GET") continue;
      }
      assert.equal(answer.status, 404, `${method} ${target}`);
      assertErrorShape(answer);
    }
  }
});
