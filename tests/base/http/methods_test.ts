import assert from "node:assert/strict";
import type { Route } from "../../../server/base/http/routes/route.ts";
import { answerJson } from "../../../server/base/http/answers/answer.ts";
import { openCors } from "../../../server/base/http/routes/cors.ts";
import { readBody } from "../../../server/base/http/routes/read_body.ts";
import { startApp } from "../../support/app_server.ts";
import { connectRaw, errorCode, exchange, type RawAnswer } from "../../support/raw_http.ts";

const ROUTES: Route[] = [
  { method: "GET", path: "/", handle: () => answerJson({}) },
  {
    method: "GET",
    path: "/v1/agents/{identifier}",
    handle: (c) => answerJson({ identifier: c.req.param("identifier"), head: c.get("head") }),
  },
  { method: "PATCH", path: "/v1/agents/me", handle: () => answerJson({}) },
  {
    method: "POST",
    path: "/v1/messages",
    body: { limitBytes: 100, pool: "messages" },
    handle: async (c) => answerJson({ sizeBytes: (await readBody(c)).length }, 201),
  },
  { method: "POST", path: "/v1/admin/ban", cors: "none", handle: () => answerJson({}) },
  {
    method: "POST",
    path: "/mcp",
    cors: "own",
    ownCors: (request, headers) => {
      if (request.headers.get("origin") === "http://localhost") openCors(headers);
    },
    handle: () => answerJson({}),
  },
];

const request = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, "Host: relay.test", ...headers, "", ""].join("\r\n");

const corsHeaders = (answer: RawAnswer | undefined) =>
  [...answer!.headers.keys()].filter((name) => name.startsWith("access-control-")).sort();

Deno.test("createApp() answers 405 with Allow to a method that a known path does not take", async () => {
  await using app = await startApp(ROUTES);
  for (
    const [line, allow] of [
      ["POST /health", "GET, HEAD, OPTIONS"],
      ["DELETE /v1/messages", "POST, OPTIONS"],
      ["GET /v1/messages", "POST, OPTIONS"],
      ["HEAD /v1/messages", "POST, OPTIONS"],
      ["POST /v1/agents/me", "PATCH, GET, HEAD, OPTIONS"],
      ["PATCH /v1/agents/alice", "GET, HEAD, OPTIONS"],
      ["GET /mcp", "POST, OPTIONS"],
      ["GET /v1/admin/ban", "POST, OPTIONS"],
      ["TRACE /health", "GET, HEAD, OPTIONS"],
      ["get /health", "GET, HEAD, OPTIONS"],
      ["ALL /health", "GET, HEAD, OPTIONS"],
      ["constructor /health", "GET, HEAD, OPTIONS"],
      ["__proto__ /health", "GET, HEAD, OPTIONS"],
      ["QUERY /", "GET, HEAD, OPTIONS"],
    ] as const
  ) {
    const answer = await exchange(app.port, request(line));
    assert.equal(answer?.status, 405, line);
    assert.equal(answer?.headers.get("allow"), allow, line);
    if (line.startsWith("HEAD")) continue;
    assert.equal(errorCode(answer), "method_not_allowed", line);
    assert.ok(JSON.parse(answer!.body).error.message.includes(allow));
  }
});

Deno.test("createApp() answers odd methods on unknown paths with 404, CONNECT with JSON", async () => {
  await using app = await startApp(ROUTES);
  for (const line of ["TRACE /nothing", "OPTIONS *", "OPTIONS /nothing", "BREW /v1/agents/%zz"]) {
    const answer = await exchange(app.port, request(line));
    assert.equal(answer?.status, 404, line);
    assert.equal(errorCode(answer), "not_found", line);
  }
  assert.equal(errorCode(await exchange(app.port, request("CONNECT h:80"))), "method_not_allowed");
});

Deno.test("createApp() reaches the look-up of an agent called me by GET", async () => {
  await using app = await startApp(ROUTES);
  const answer = await exchange(app.port, request("GET /v1/agents/me"));
  assert.deepEqual(JSON.parse(answer!.body), { identifier: "me", head: false });
});

Deno.test("createApp() answers HEAD wherever GET is, with GET's headers and no body", async () => {
  await using app = await startApp(ROUTES);
  using connection = await connectRaw(app.port);
  for (const target of ["/health", "/", "/v1/agents/%zz", "/v1/agents/al", "/nothing"]) {
    await connection.send(request(`GET ${target}`));
    const full = await connection.answer();
    await connection.send(request(`HEAD ${target}`));
    const head = await connection.answer(true);
    assert.equal(head?.status, full?.status, target);
    assert.equal(head?.headers.get("content-type"), full?.headers.get("content-type"));
    assert.deepEqual(corsHeaders(head), corsHeaders(full));
    // The handler names "head", four characters for true against five for false.
    const shorter = target === "/v1/agents/al" ? 1 : 0;
    assert.equal(
      Number(head?.headers.get("content-length")),
      Number(full?.headers.get("content-length")) - shorter,
      target,
    );
  }
  // Had a body followed any HEAD, this answer would not parse.
  await connection.send(request("GET /health"));
  assert.deepEqual(JSON.parse((await connection.answer())!.body), { ok: true });
});

Deno.test("createApp() ignores the bodies of GET and HEAD", async () => {
  await using app = await startApp(ROUTES);
  using connection = await connectRaw(app.port);
  await connection.send(request("GET /health", "Content-Length: 5") + "hello");
  assert.equal((await connection.answer())?.status, 200);
  await connection.send(request("HEAD /health", "Content-Length: 5") + "hello");
  assert.equal((await connection.answer(true))?.status, 200);
  await connection.send(
    request("GET /health", "Transfer-Encoding: chunked") + "3\r\nabc\r\n0\r\n\r\n",
  );
  assert.equal((await connection.answer())?.status, 200);
  const huge = await exchange(
    app.port,
    request("GET /health", "Content-Length: 99999999", "Content-Encoding: gzip") + "x",
  );
  assert.equal(huge?.status, 200);
});

Deno.test("createApp() answers OPTIONS 204 on known paths with what a preflight asks", async () => {
  await using app = await startApp(ROUTES);
  const answer = await exchange(
    app.port,
    request(
      "OPTIONS /v1/agents/me",
      "Origin: https://page.test",
      "Access-Control-Request-Method: PATCH",
      "Access-Control-Request-Headers: content-type, x-relay-new, MCP-Param-City, cookie, x-relay-%",
    ),
  );
  assert.equal(answer?.status, 204);
  assert.equal(answer?.headers.get("allow"), "PATCH, GET, HEAD, OPTIONS");
  assert.equal(answer?.headers.get("access-control-allow-origin"), "*");
  assert.equal(
    answer?.headers.get("access-control-allow-methods"),
    "PATCH, GET, HEAD, OPTIONS",
  );
  const allowed = answer!.headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
  for (
    const name of [
      "authorization",
      "content-type",
      "idempotency-key",
      "x-relay-pubkey",
      "x-relay-timestamp",
      "x-relay-signature",
      "mcp-protocol-version",
      "mcp-method",
      "mcp-name",
      "mcp-param-city",
      "x-relay-new",
    ]
  ) assert.ok(allowed.includes(name), name);
  assert.ok(!allowed.some((name) => name === "cookie" || name.includes("%")));
  assert.equal(new Set(allowed).size, allowed.length);
  assert.equal(answer?.headers.get("access-control-allow-credentials"), undefined);
});

Deno.test("createApp() opens API answers to every origin, errors included", async () => {
  await using app = await startApp(ROUTES);
  for (const line of ["GET /health", "POST /health", "GET /v1/nothing", "GET /v1/agents/%zz"]) {
    const answer = await exchange(app.port, request(line, "Origin: https://page.test"));
    assert.equal(answer?.headers.get("access-control-allow-origin"), "*", line);
    assert.equal(
      answer?.headers.get("access-control-expose-headers"),
      "X-Request-Id, Retry-After, Idempotent-Replayed, Allow",
      line,
    );
  }
});

Deno.test("createApp() sends no CORS headers on admin routes and only their own on cors own", async () => {
  await using app = await startApp(ROUTES);
  const page = "Origin: https://page.test";
  for (
    const line of [
      "POST /v1/admin/ban",
      "GET /v1/admin/ban",
      "OPTIONS /v1/admin/ban",
      "POST /v1/admin/nothing",
      "POST /mcp",
      "GET /mcp",
      "OPTIONS /mcp",
    ]
  ) {
    assert.deepEqual(corsHeaders(await exchange(app.port, request(line, page))), [], line);
  }
  for (const line of ["POST /mcp", "GET /mcp", "OPTIONS /mcp"]) {
    const answer = await exchange(app.port, request(line, "Origin: http://localhost"));
    assert.equal(answer?.headers.get("access-control-allow-origin"), "*", line);
  }
});
