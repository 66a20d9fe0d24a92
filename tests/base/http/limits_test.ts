/** GET /v1/limits. */
import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";

Deno.test("GET /v1/limits shows each limit in force and the time, and RELAY_LIMITS changes what it says and does", async () => {
  await using relay = await startTestRelay({
    limits: { bodyBytes: 10, searchesPerIpPerMinute: 1 },
  });
  const answer = await ask(`${relay.url}/v1/limits`);
  assertStatus(answer, 200);
  assert.deepEqual(Object.keys(answer.json).sort(), ["limits", "server_time"]);
  assert.equal(answer.json.server_time, new Date(relay.clock.now()).toISOString());
  assert.deepEqual(answer.json.limits, {
    ...DEFAULT_LIMITS,
    bodyBytes: 10,
    searchesPerIpPerMinute: 1,
  });
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  const home = await ask(`${relay.url}/`);
  assert.deepEqual(Object.keys(home.json).sort(), [
    "description",
    "docs",
    "limits",
    "mcp",
    "name",
    "openapi",
    "version",
  ]);
  const a = await registerAgent(relay, "aaa");
  assertStatus(await a.send({ to: "aaa", body: "12345678" }), 201);
  assertRefused(await a.send({ to: "aaa", body: "123456789" }), "payload_too_large", /10/);
  assert.equal((await ask(`${relay.url}/v1/limits`, { method: "HEAD" })).status, 200);
  const html = await ask(`${relay.url}/`, { headers: { Accept: "text/html,application/json" } });
  assert.match(html.headers.get("content-type")!, /^text\/html/);
  assert.equal(html.headers.get("access-control-allow-origin"), null);
});
