/** What settings change of the contract's answers, told by a process of its own. */
import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../server/base/config/limits.ts";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { spawnRelay } from "../support/spawn_relay.ts";

Deno.test("RELAY_LIMITS and RELAY_BASE_URL show in limits, home, searches and tools", async () => {
  const overrides = {
    searchesPerIpPerMinute: 2,
    waitingPolls: 0,
    toolRegistrationsPerIpPerHour: 0,
  };
  await using relay = await spawnRelay({
    env: {
      RELAY_LIMITS: JSON.stringify(overrides),
      RELAY_BASE_URL: "https://relay.example",
      RELAY_ADMIN_TOKEN: "a".repeat(32),
    },
  });
  const { limits, server_time } = (await ask(`${relay.url}/v1/limits`)).json;
  assert.deepEqual(limits, { ...DEFAULT_LIMITS, ...overrides });
  assert.ok(Math.abs(Date.parse(server_time) - Date.now()) < 10_000);
  const home = await ask(`${relay.url}/`);
  assert.equal(home.json.limits, "https://relay.example/v1/limits");
  assert.equal(home.json.mcp, "https://relay.example/mcp");
  for (const status of [200, 200, 429]) {
    assert.equal((await ask(`${relay.url}/v1/agents?q=a`)).status, status);
  }
  const admin = await ask(`${relay.url}/v1/admin/ban`, {
    method: "POST",
    body: "{}",
    headers: { Authorization: `Bearer ${"a".repeat(32)}` },
  });
  assertRefused(admin, "invalid_json", /pubkey/);
  const refused = await ask(`${relay.url}/mcp`, {
    method: "POST",
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "register", arguments: { handle: "nobody_yet" } },
    }),
  });
  assertStatus(refused, 200);
  assert.equal(refused.json.result._meta["relay/error"].code, "rate_limited");
  assert.ok(refused.json.result._meta["relay/error"].retry_after_ms >= 1);
});
