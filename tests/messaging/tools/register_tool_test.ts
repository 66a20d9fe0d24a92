/** The tool register: the rules of POST /v1/register, a counter of its own, a key that the relay holds. */
import assert from "node:assert/strict";
import { decodeAddress, isWordNameOf } from "../../../toolkit/mod.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import {
  assertToolRefused,
  callTool,
  ToolAgent,
  type ToolArgs,
} from "../../support/tool_client.ts";

Deno.test("register makes an agent like any other: in resolve, by all three names, with its profile", async () => {
  await using relay = await startTestRelay();
  const profile = {
    display_name: "  A tool  ",
    description: "line\nbreak",
    tags: [" B ", "a", "b"],
  };
  const agent = await ToolAgent.register(relay.url, "@Tool_Agent", profile);
  assert.equal(agent.handle, "tool_agent");
  assert.equal(decodeAddress(agent.address).length, 32);
  assert.ok(isWordNameOf(agent.wordName, decodeAddress(agent.address)));
  for (const name of ["tool_agent", agent.wordName, agent.address]) {
    const answer = await ask(`${relay.url}/v1/agents/${name}`);
    assertStatus(answer, 200);
    assert.equal(answer.json.address, agent.address);
    assert.equal(answer.json.display_name, "A tool");
    assert.equal(answer.json.description, "line\nbreak");
    assert.deepEqual(answer.json.tags, ["b", "a"]);
    assert.equal(answer.json.last_seen_at, null);
  }
});

Deno.test("register shows the token once and says that a lost one cannot be recovered", async () => {
  await using relay = await startTestRelay();
  const { text, structured } = await callTool(relay.url, "register", { handle: "agent" });
  assert.match(structured.token, /^rt_mcp_[A-Za-z0-9_-]{43}$/);
  assert.ok(text.includes(structured.token));
  assert.match(text, /cannot be recovered/);
  const whoami = await callTool(relay.url, "whoami", { token: structured.token });
  assert.ok(!JSON.stringify(whoami).includes(structured.token));
});

Deno.test("register refuses what the REST API refuses, with its codes", async () => {
  await using relay = await startTestRelay();
  await registerAgent(relay, "taken");
  const cases: [ToolArgs, string, RegExp?][] = [
    [{}, "invalid_json", /handle is required/],
    [{ handle: 7 }, "invalid_json", /handle must be a string/],
    [{ handle: "ab" }, "invalid_handle"],
    [{ handle: "with-hyphen" }, "invalid_handle"],
    [{ handle: " spaced" }, "invalid_handle"],
    [{ handle: "\ud800xx" }, "invalid_json", /surrogate/],
    [{ handle: "relay" }, "reserved_handle"],
    [{ handle: "TAKEN" }, "handle_taken"],
    [{ handle: "fine", display_name: "x".repeat(101) }, "invalid_json", /display_name/],
    [{ handle: "fine", display_name: 1 }, "invalid_json", /display_name/],
    [{ handle: "fine", description: "x".repeat(501) }, "invalid_json", /description/],
    [{ handle: "fine", tags: "a" }, "invalid_json", /tags/],
    [{ handle: "fine", tags: ["no spaces"] }, "invalid_json", /tags\[0\]/],
    [{ handle: "fine", pubkey: "x" }, "invalid_json", /"pubkey"/],
    [{ handle: "no", display_name: 1 }, "invalid_json", /display_name/],
  ];
  for (const [args, code, message] of cases) {
    assertToolRefused(await callTool(relay.url, "register", args), code, message);
  }
  const nulls = { handle: "fine", display_name: null, description: null, tags: null };
  await ToolAgent.register(relay.url, "fine", nulls);
});

Deno.test("register counts successes an address and hour, apart from POST /v1/register", async () => {
  await using relay = await startTestRelay({
    limits: { toolRegistrationsPerIpPerHour: 2, registrationsPerIpPerHour: 1 },
  });
  await registerAgent(relay, "rest_one");
  await ToolAgent.register(relay.url, "tool_one");
  assertToolRefused(await callTool(relay.url, "register", { handle: "tool_one" }), "handle_taken");
  relay.clock.advance(60_000);
  await ToolAgent.register(relay.url, "tool_two");
  const refused = await callTool(relay.url, "register", { handle: "tool_three" });
  assertToolRefused(refused, "rate_limited");
  assert.equal(refused.error!.retry_after_ms, 3_540_000);
  const rest = await ask(`${relay.url}/v1/register`, {
    method: "POST",
    body: JSON.stringify({ handle: "rest_two", pubkey: "x".repeat(40) }),
  });
  assertRefused(rest, "invalid_pubkey");
  relay.clock.advance(3_540_000);
  await ToolAgent.register(relay.url, "tool_three");
});

Deno.test("register counts by the address behind trusted proxies", async () => {
  await using relay = await startTestRelay({
    config: { trustedProxyHops: 1 },
    limits: { toolRegistrationsPerIpPerHour: 1 },
  });
  const from = (address: string, handle: string) =>
    callTool(relay.url, "register", { handle }, { "X-Forwarded-For": `1.2.3.4, ${address}` });
  assert.equal((await from("192.0.2.1", "one")).isError, false);
  assertToolRefused(await from("192.0.2.1", "two"), "rate_limited");
  assert.equal((await from("192.0.2.2", "two")).isError, false);
});

Deno.test("register gives one handle to one of many callers at once", async () => {
  await using relay = await startTestRelay();
  const results = await Promise.all(
    Array.from({ length: 12 }, () => callTool(relay.url, "register", { handle: "wanted" })),
  );
  const given = results.filter(({ isError }) => !isError);
  assert.equal(given.length, 1);
  for (const result of results) if (result.isError) assertToolRefused(result, "handle_taken");
  const { token } = given[0]!.structured;
  assert.equal((await callTool(relay.url, "whoami", { token })).structured.handle, "wanted");
});
