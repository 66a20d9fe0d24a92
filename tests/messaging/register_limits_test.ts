/** POST /v1/register: five an hour from one address, and races for one handle or key. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { register, registerAgent, TestAgent } from "../support/test_agent.ts";

const HOUR_MS = 3_600_000;

Deno.test("register accepts five an hour from one address and says when the sixth may come", async () => {
  await using relay = await startTestRelay();
  for (let i = 1; i <= 5; i++) {
    await registerAgent(relay, `agent_${i}`);
    relay.clock.advance(1000);
  }
  const sixth = new TestAgent(relay);
  const answer = await sixth.askToRegister({ handle: "agent_6" });
  assertRefused(answer, "rate_limited", /5 registrations an hour/);
  assert.equal(answer.json.retry_after_ms, HOUR_MS - 5000);
  relay.clock.advance(HOUR_MS - 5001);
  const early = await sixth.askToRegister({ handle: "agent_6" });
  assert.equal(early.json.retry_after_ms, 1);
  relay.clock.advance(1);
  assertStatus(await sixth.askToRegister({ handle: "agent_6" }), 201);
  assert.equal((await new TestAgent(relay).askToRegister({ handle: "agent_7" })).status, 429);
});

Deno.test("register counts 201s only", async () => {
  await using relay = await startTestRelay();
  const first = await registerAgent(relay, "agent_1");
  for (let i = 0; i < 6; i++) {
    assertRefused(await first.askToRegister({ handle: "agent_1" }), "handle_taken");
    assertRefused(await first.askToRegister({ handle: "!" }), "invalid_handle");
    assertRefused(await first.askToRegister({ handle: "admin" }), "reserved_handle");
  }
  for (let i = 2; i <= 5; i++) await registerAgent(relay, `agent_${i}`);
  for (let i = 0; i < 3; i++) {
    assert.equal((await new TestAgent(relay).askToRegister({ handle: "agent_6" })).status, 429);
  }
  relay.clock.advance(HOUR_MS);
  for (let i = 6; i <= 10; i++) await registerAgent(relay, `agent_${i}`);
});

Deno.test("register counts by the address that the trusted proxy saw, IPv6 by /64", async () => {
  await using relay = await startTestRelay({
    config: { trustedProxyHops: 1 },
    limits: { registrationsPerIpPerHour: 1 },
  });
  const ask = async (handle: string, forwardedFor: string) =>
    (await new TestAgent(relay).askToRegister({ handle }, { "X-Forwarded-For": forwardedFor }))
      .status;
  assert.equal(await ask("v4_a", "203.0.113.1"), 201);
  assert.equal(await ask("v4_b", "203.0.113.1"), 429);
  assert.equal(await ask("v4_c", "203.0.113.9, 203.0.113.1"), 429);
  assert.equal(await ask("v4_d", "::ffff:203.0.113.1"), 429);
  assert.equal(await ask("v4_e", "203.0.113.1, 203.0.113.2"), 201);
  assert.equal(await ask("v6_a", "2001:db8::1"), 201);
  assert.equal(await ask("v6_b", "2001:db8:0:0:ffff::2"), 429);
  assert.equal(await ask("v6_c", "2001:db8:0:1::1"), 201);
  const rows = (await listRows(relay.deps.kv)).join("\n");
  assert.ok(!rows.includes("203.0.113") && !rows.includes("2001:db8"));
});

Deno.test("register never counts by a header that nobody vouches for", async () => {
  await using relay = await startTestRelay({ limits: { registrationsPerIpPerHour: 1 } });
  await registerAgent(relay, "first");
  const answer = await new TestAgent(relay).askToRegister(
    { handle: "second" },
    { "X-Forwarded-For": "203.0.113.7" },
  );
  assertRefused(answer, "rate_limited");
});

for (const shared of [false, true]) {
  const store = shared ? "a shared store" : "an exclusive store";
  const options = {
    config: { sharedStore: shared },
    limits: { registrationsPerIpPerHour: 1000 },
  };

  Deno.test(`register gives one handle to one of many at once on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const agents = Array.from({ length: 12 }, () => new TestAgent(relay));
    const answers = await Promise.all(agents.map((a) => a.askToRegister({ handle: "wanted" })));
    const winners = answers.filter(({ status }) => status === 201);
    assert.equal(winners.length, 1);
    for (const answer of answers) {
      if (answer.status !== 201) assertRefused(answer, "handle_taken", /handle/);
    }
    const found = await agents[0]!.call("GET", "/v1/agents/wanted");
    assert.equal(found.json.address, winners[0]!.json.address);
  });

  Deno.test(`register binds one key once, whatever handles ask at once on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const agent = new TestAgent(relay);
    const handles = Array.from({ length: 12 }, (_, i) => `name_${i}`);
    const answers = await Promise.all(handles.map((handle) => agent.askToRegister({ handle })));
    const [winner, ...others] = answers.filter(({ status }) => status === 201);
    assert.equal(others.length, 0);
    for (const answer of answers) {
      if (answer.status !== 201) assertRefused(answer, "handle_taken", /pubkey/);
    }
    for (const handle of handles) {
      const found = await agent.call("GET", `/v1/agents/${handle}`);
      assert.equal(found.status, handle === winner!.json.handle ? 200 : 404);
    }
  });

  Deno.test(`register never passes the limit by asking at once on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { sharedStore: shared } });
    const answers = await Promise.all(
      Array.from(
        { length: 15 },
        (_, i) => new TestAgent(relay).askToRegister({ handle: `rush_${i}` }),
      ),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 5);
    assert.equal(answers.filter(({ status }) => status === 429).length, 10);
    const ids: number[] = [];
    for await (const { key } of relay.deps.kv.list({ prefix: ["agent"] })) {
      ids.push(key[1] as number);
    }
    assert.deepEqual(ids, [1, 2, 3, 4, 5]);
  });
}

Deno.test("register and send wait with 503 while the disk is nearly full; reads go on", async () => {
  let freeBytes = 600 * 1024 * 1024;
  const measureFreeBytes = () => Promise.resolve(freeBytes);
  using kv = await openMemoryKv();
  let agent: TestAgent;
  {
    await using relay = await startTestRelay({ deps: { kv }, relay: { measureFreeBytes } });
    agent = await registerAgent(relay, "early");
    assertStatus(await agent.send({ to: "early", body: 1 }), 201);
  }
  freeBytes = 512 * 1024 * 1024 - 1;
  {
    await using relay = await startTestRelay({ deps: { kv }, relay: { measureFreeBytes } });
    const again = agent.at(relay);
    const before = await listRows(kv);
    const refused = [
      await new TestAgent(relay).askToRegister({ handle: "late" }),
      await again.send({ to: "early", body: 2 }),
    ];
    for (const answer of refused) {
      assertRefused(answer, "unavailable", /disk/);
      assert.equal(answer.headers.get("retry-after"), "60");
    }
    assert.deepEqual(await listRows(kv), before);
    assert.equal((await again.inbox()).length, 1);
    assertRefused(await register(relay, {}), "invalid_json");
  }
});
