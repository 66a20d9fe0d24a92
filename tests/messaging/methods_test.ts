/** HEAD, OPTIONS and every other method on the routes of the messaging API as they really are. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { askRaw } from "../support/raw_request.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgents } from "../support/test_agent.ts";

const READ = "GET, HEAD, OPTIONS";
const WRITE = "POST, OPTIONS";
const ROUTES = [
  ["/health", READ],
  ["/health/db", READ],
  ["/v1/register", WRITE],
  ["/v1/whoami", READ],
  ["/v1/agents/alice", READ],
  ["/v1/messages", WRITE],
  ["/v1/inbox", READ],
  ["/v1/outbox", READ],
  ["/v1/messages/1/signed-request", READ],
  ["/v1/owner-token", WRITE],
] as const;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "get", "X-ODD"];

Deno.test("every route answers a method that it does not take with 405 and its Allow", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const before = await listRows(relay.deps.kv, { marks: true });
  for (const [target, allow] of ROUTES) {
    for (const method of METHODS) {
      if (allow.split(", ").includes(method)) continue;
      // A valid credential changes nothing about it.
      const headers = { Authorization: `Bearer ${alice.ownerToken}` };
      const answer = await askRaw(relay.port, { method, target, headers });
      assert.equal(answer.status, 405, `${method} ${target}`);
      assert.equal(answer.headers.get("allow"), allow);
      if (method !== "HEAD") assertRefused(answer, "method_not_allowed");
    }
  }
  assert.deepEqual(await listRows(relay.deps.kv, { marks: true }), before);
});

Deno.test("every route answers OPTIONS with 204, its Allow and what a browser may send", async () => {
  await using relay = await startTestRelay();
  for (const [target, allow] of ROUTES) {
    const answer = await askRaw(relay.port, {
      method: "OPTIONS",
      target,
      headers: {
        "Origin": "https://any.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-relay-signature",
      },
    });
    assertStatus(answer, 204);
    assert.equal(answer.headers.get("allow"), allow);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.equal(answer.headers.get("access-control-allow-credentials"), null);
    const allowed = answer.headers.get("access-control-allow-headers")!.toLowerCase();
    for (const name of ["authorization", "content-type", "idempotency-key", "x-relay-pubkey"]) {
      assert.ok(allowed.includes(name), name);
    }
  }
  for (const target of ["/v1/nothing", "/v1/inbox/", "/v1/messages/1", "/V1/inbox"]) {
    assertRefused(await askRaw(relay.port, { method: "OPTIONS", target }), "not_found");
  }
});

Deno.test("HEAD has GET's status and headers and no body", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const id = await alice.sent({ to: "alice", body: "x" });
  for (
    const path of [
      "/health",
      "/health/db",
      "/v1/whoami",
      "/v1/agents/alice",
      "/v1/agents/nobody",
      "/v1/outbox",
      `/v1/messages/${id}/signed-request`,
      "/v1/messages/x/signed-request",
    ]
  ) {
    const head = await alice.call("HEAD", path);
    const get = await alice.call("GET", path);
    assert.equal(head.status, get.status, path);
    assert.equal(head.text, "");
    assert.equal(head.headers.get("content-type"), get.headers.get("content-type"));
    const readsNothing = head.status === 200 && /outbox|signed-request/.test(path);
    assert.equal(head.headers.has("content-length"), !readsNothing, path);
    if (!readsNothing) {
      assert.equal(head.headers.get("content-length"), get.headers.get("content-length"));
    }
  }
});

Deno.test("unknown paths are JSON 404s for every method", async () => {
  await using relay = await startTestRelay();
  for (
    const target of ["/v2/inbox", "/v1", "/v1/", "/v1/messages/1", "/v1/inbox/x", "/favicon.ico"]
  ) {
    for (const method of ["GET", "POST", "DELETE"]) {
      assertRefused(await askRaw(relay.port, { method, target }), "not_found");
    }
  }
});

Deno.test("health answers without and with the database", async () => {
  await using relay = await startTestRelay();
  const health = await ask(`${relay.url}/health`);
  assertStatus(health, 200);
  assert.deepEqual(health.json, { ok: true });
  const database = await ask(`${relay.url}/health/db?x=%zz`);
  assertStatus(database, 200);
  assert.deepEqual(database.json, { ok: true, db: true });
});

Deno.test("answers carry a request id of their own and open CORS, errors too", async () => {
  await using relay = await startTestRelay();
  const ids = new Set<string | null>();
  for (const path of ["/v1/whoami", "/v1/agents/nobody", "/v1/inbox", "/v1/nothing"]) {
    const answer = await ask(relay.url + path, { headers: { "X-Request-Id": "mine" } });
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    const exposed = answer.headers.get("access-control-expose-headers")!;
    for (const name of ["X-Request-Id", "Retry-After", "Idempotent-Replayed", "Allow"]) {
      assert.ok(exposed.includes(name));
    }
    ids.add(answer.headers.get("x-request-id"));
  }
  assert.equal(ids.size, 4);
  assert.ok(!ids.has("mine") && !ids.has(null));
});
