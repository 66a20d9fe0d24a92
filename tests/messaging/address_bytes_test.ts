/** What one client address may have stored in an hour, whatever the number of its agents. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { setBanned } from "../support/ban_in_store.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../support/relay.ts";
import { registerAgent, type TestAgent } from "../support/test_agent.ts";
import { assertToolRefused, ToolAgent } from "../support/tool_client.ts";

const HOUR_MS = 3_600_000;
const LARGE = "x".repeat(30_000);

/** A relay behind a proxy, so that tests choose where a request comes from. */
function startBehindProxy(
  limits: TestRelayOptions["limits"],
  options: TestRelayOptions = {},
): Promise<TestRelay> {
  const config = { trustedProxyHops: 1, ...options.config };
  return startTestRelay({
    ...options,
    config,
    limits: { registrationsPerIpPerHour: 100, toolRegistrationsPerIpPerHour: 100, ...limits },
  });
}

const from = (address: string) => ({ headers: { "X-Forwarded-For": address } });

async function registerMany(relay: TestRelay, count: number): Promise<TestAgent[]> {
  const agents: TestAgent[] = [];
  for (let i = 0; i < count; i++) agents.push(await registerAgent(relay, `agent_${i}`));
  return agents;
}

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`many agents of one address store no more than the address may, on ${store}`, async () => {
    const limits = { storedBytesPerIpPerHour: 200_000 };
    await using relay = await startBehindProxy(limits, { config: { sharedStore } });
    const agents = await registerMany(relay, 25);
    let accepted = 0;
    for (const agent of agents) {
      const answer = await agent.send({ to: "agent_0", body: LARGE }, from("192.0.2.1"));
      if (answer.status === 201) accepted++;
      else assertRefused(answer, "rate_limited", /200000 bytes of messages an hour/);
    }
    // 31,002 bytes each: 6 fit.
    assert.equal(accepted, 6);
    const refused = await agents[9]!.send({ to: "agent_0", body: LARGE }, from("192.0.2.1"));
    assertRefused(refused, "rate_limited");
    assert.equal(refused.json.retry_after_ms, HOUR_MS);
    assert.equal(refused.headers.get("retry-after"), "3600");
    // What still fits is taken, and so is what comes from elsewhere.
    assertStatus(await agents[9]!.send({ to: "agent_0", body: "small" }, from("192.0.2.1")), 201);
    assertStatus(await agents[9]!.send({ to: "agent_0", body: LARGE }, from("192.0.2.2")), 201);
    relay.clock.advance(HOUR_MS - 1);
    const early = await agents[9]!.send({ to: "agent_0", body: LARGE }, from("192.0.2.1"));
    assert.equal(early.json.retry_after_ms, 1);
    relay.clock.advance(1);
    assertStatus(await agents[9]!.send({ to: "agent_0", body: LARGE }, from("192.0.2.1")), 201);
  });

  Deno.test(`sends at once never pass what their address may store, on ${store}`, async () => {
    const limits = { storedBytesPerIpPerHour: 100_000 };
    await using relay = await startBehindProxy(limits, { config: { sharedStore } });
    const agents = await registerMany(relay, 12);
    const answers = await Promise.all(
      agents.map((agent) => agent.send({ to: "agent_0", body: LARGE }, from("2001:db8::1"))),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 3);
    // IPv6 counts by /64.
    const neighbour = await agents[0]!.send({ to: "agent_1", body: LARGE }, from("2001:db8::2"));
    assertRefused(neighbour, "rate_limited");
    assertStatus(
      await agents[0]!.send({ to: "agent_1", body: LARGE }, from("2001:db8:0:1::1")),
      201,
    );
  });
}

Deno.test("signed sends, sends by token and those of the tool count together", async () => {
  await using relay = await startBehindProxy({ storedBytesPerIpPerHour: 100_000 });
  const [alice] = await registerMany(relay, 1);
  const tool = await ToolAgent.register(relay.url, "toolish");
  const here = from("192.0.2.1");
  assertStatus(await alice!.send({ to: "toolish", body: LARGE }, here), 201);
  const request = { to: "agent_0", body: LARGE };
  assertStatus(await tool.rest("POST", "/v1/messages", request, here.headers), 201);
  const keyed = { ...here.headers, "Idempotency-Key": "one" };
  const keyedAnswer = await tool.rest("POST", "/v1/messages", { ...request, body: "k" }, keyed);
  assertStatus(keyedAnswer, 201);
  // The tool's caller comes from the socket's address: another account, filled by itself.
  for (let i = 0; i < 3; i++) await tool.done("send_message", { to: "agent_0", body: LARGE });
  assertToolRefused(
    await tool.call("send_message", { to: "agent_0", body: LARGE }),
    "rate_limited",
    /100000 bytes/,
  );
  assertStatus(await tool.rest("POST", "/v1/messages", request, here.headers), 201);
  for (
    const answer of [
      await alice!.send({ to: "toolish", body: LARGE }, here),
      await tool.rest("POST", "/v1/messages", request, here.headers),
      await tool.rest("POST", "/v1/messages", request, {
        ...here.headers,
        "Idempotency-Key": "two",
      }),
    ]
  ) assertRefused(answer, "rate_limited", /client address/);
  // What was accepted is repeated all the same.
  const again = await tool.rest("POST", "/v1/messages", { ...request, body: "k" }, keyed);
  assertStatus(again, 201);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.equal(again.text, keyedAnswer.text);
});

Deno.test("refusals and repetitions count nothing for an address, and come before its limit", async () => {
  using kv = await openMemoryKv();
  const limits = { storedBytesPerIpPerHour: 70_000 };
  await using relay = await startBehindProxy(limits, {
    deps: { kv },
    config: { sharedStore: true },
  });
  const [alice] = await registerMany(relay, 3);
  await setBanned(kv, "agent_2", true);
  const timestamp = relay.clock.seconds() - 10;
  const first = await alice!.send({ to: "agent_1", body: LARGE }, { timestamp });
  assertStatus(first, 201);
  const everyRefusal = async () => {
    assertRefused(await alice!.send({ to: "agent_2", body: LARGE }), "recipient_banned");
    assertRefused(await alice!.send({ to: "nobody", body: LARGE }), "not_found");
    assertRefused(
      await alice!.send({ to: "agent_1", body: "x".repeat(65_600) }),
      "payload_too_large",
    );
    const again = await alice!.send({ to: "agent_1", body: LARGE }, { timestamp });
    assertStatus(again, 201);
    assert.equal(again.text, first.text);
  };
  for (let i = 0; i < 5; i++) await everyRefusal();
  assertStatus(await alice!.send({ to: "agent_1", body: LARGE }), 201);
  assertRefused(await alice!.send({ to: "agent_1", body: LARGE }), "rate_limited");
  await everyRefusal();
});
