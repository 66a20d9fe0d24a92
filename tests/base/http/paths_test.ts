import assert from "node:assert/strict";
import type { Route } from "../../../server/base/http/routes/route.ts";
import { answerJson } from "../../../server/base/http/answers/answer.ts";
import { startApp } from "../../support/app_server.ts";
import { connectRaw, errorCode, exchange } from "../../support/raw_http.ts";

const ROUTES: Route[] = [
  {
    method: "GET",
    path: "/v1/agents/{identifier}",
    handle: (c) =>
      answerJson({
        identifier: c.req.param("identifier"),
        path: c.get("path"),
        query: c.get("query"),
        head: c.get("head"),
        address: c.env.remoteAddress,
      }),
  },
  { method: "PATCH", path: "/v1/agents/me", handle: () => answerJson({ me: true }) },
  {
    method: "GET",
    path: "/v1/messages/{id}/signed-request",
    handle: (c) => answerJson({ id: c.req.param("id") }),
  },
];

const get = (target: string, host = "relay.test") =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

Deno.test("createApp() decodes an identifier once and keeps path and query as they were sent", async () => {
  await using app = await startApp(ROUTES);
  for (
    const [target, identifier] of [
      ["/v1/agents/alice", "alice"],
      ["/v1/agents/%40Alice?x=%41&y", "@Alice"],
      ["/v1/agents/%2540alice", "%40alice"],
      ["/v1/agents/a%20b", "a b"],
      ["/v1/agents/..", ".."],
      ["/v1/agents/%2e%2e", ".."],
      ["http://other.test/v1/agents/alice?q", "alice"],
    ] as const
  ) {
    const answer = await exchange(app.port, get(target));
    assert.equal(answer?.status, 200, target);
    const [path, query = ""] = target.replace("http://other.test", "").split("?");
    assert.deepEqual(JSON.parse(answer!.body), {
      identifier,
      path,
      query,
      head: false,
      address: "127.0.0.1",
    });
  }
});

Deno.test("createApp() answers 404 not_found to every other spelling of a path", async () => {
  await using app = await startApp(ROUTES);
  using connection = await connectRaw(app.port);
  for (
    const target of [
      "/nothing",
      "/health/",
      "//health",
      "/Health",
      "/h%65alth",
      "/health%20",
      "/./health",
      "/v1/../health",
      "/v1/agents",
      "/v1/agents/",
      "/v1//agents/alice",
      "/v1/agents/alice/",
      "/v1/agents/%zz",
      "/v1/agents/%",
      "/v1/agents/%ff",
      "/v1/agents/a%2Fb",
      "/v1/agents/a%00",
      "/v1/agents/a%0Ab",
      "/v1/messages//signed-request",
      "/v1/messages/1%2F2/signed-request",
      "/*",
      "/:identifier",
      "/v1/agents/x%3F/../../health",
      "http://other.test/health/",
      "/" + "a".repeat(8000),
    ]
  ) {
    await connection.send(get(target));
    const answer = await connection.answer();
    assert.equal(answer?.status, 404, target);
    assert.equal(errorCode(answer), "not_found", target);
    assert.equal(answer?.headers.get("content-type"), "application/json; charset=utf-8");
  }
});

Deno.test("createApp() is not led to another route by a Host header", async () => {
  await using app = await startApp(ROUTES);
  for (const host of ["relay.test/health?", "relay.test/health#", "a?", "u@relay.test"]) {
    const answer = await exchange(app.port, get("/nothing", host));
    assert.equal(answer?.status, 404, host);
    assert.equal(errorCode(await exchange(app.port, get("/health", host))), "not_found", host);
  }
  const withoutHost = await exchange(app.port, "GET /health HTTP/1.0\r\n\r\n");
  assert.equal(withoutHost?.status, 200);
});

Deno.test("createApp() answers 404 to a Host header that is none, whatever the method", async () => {
  await using app = await startApp([]);
  for (const method of ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "ODD"]) {
    const head = `${method} / HTTP/1.1\r\nHost: a/b\r\nContent-Length: 0\r\n\r\n`;
    assert.equal((await exchange(app.port, head))?.status, 404, method);
  }
  assert.deepEqual(app.logged, []);
});

Deno.test("createApp() gives every answer a request id of its own and takes none", async () => {
  await using app = await startApp(ROUTES);
  using connection = await connectRaw(app.port);
  const seen = new Set<string | undefined>();
  for (const target of ["/health", "/nothing", "/v1/agents/%zz", "/v1/agents/alice", "/"]) {
    await connection.send(
      `GET ${target} HTTP/1.1\r\nHost: relay.test\r\nX-Request-Id: mine\r\n\r\n`,
    );
    seen.add((await connection.answer())?.headers.get("x-request-id"));
  }
  assert.equal(seen.size, 5);
  assert.ok(!seen.has("mine") && !seen.has(undefined));
});

Deno.test("createApp() answers 500 internal to what a handler throws, and logs it under the id", async () => {
  const failing: Route[] = [
    {
      method: "GET",
      path: "/v1/sync",
      handle: () => {
        throw new TypeError("secret inside");
      },
    },
    { method: "GET", path: "/v1/async", handle: () => Promise.reject("secret inside") },
    { method: "GET", path: "/v1/none", handle: () => undefined as unknown as Response },
  ];
  await using app = await startApp(failing);
  for (const [index, { path }] of failing.entries()) {
    const answer = await exchange(app.port, get(path));
    assert.equal(answer?.status, 500, path);
    assert.equal(errorCode(answer), "internal");
    assert.ok(!answer!.body.includes("secret"));
    assert.equal(answer!.headers.get("access-control-allow-origin"), "*");
    assert.equal(app.logged.length, index + 1);
    assert.equal(app.logged[index]!.fields.request_id, answer!.headers.get("x-request-id"));
  }
});
