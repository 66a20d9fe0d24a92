/** How often profiles and owner_tokens may change, and that neither changes while the disk is nearly full. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../../support/answer.ts";
import { delayReads } from "../../support/delay_reads.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { listRows } from "../../support/store_rows.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";
import { assertToolRefused, ToolAgent } from "../../support/tool_client.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const ME = "/v1/agents/me";

const patch = (agent: TestAgent, n: number, timestamp?: number) =>
  agent.call("PATCH", ME, {
    body: { description: `${n}` },
    ...(timestamp === undefined ? {} : { timestamp }),
  });

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";
  const config = { sharedStore };

  Deno.test(`an agent changes its profile 120 times in any minute and not once more, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const alice = await registerAgent(relay, "alice");
    const bob = await registerAgent(relay, "bob_1");
    for (let n = 0; n < 120; n++) {
      assertStatus(await patch(alice, n), 200);
      relay.clock.advance(100);
    }
    const refused = await patch(alice, 120);
    assertRefused(refused, "rate_limited", /120 profile changes a minute/);
    assert.equal(refused.json.retry_after_ms, MINUTE_MS - 12_000);
    assert.equal(refused.headers.get("retry-after"), "48");
    assertStatus(await patch(bob, 0), 200);
    relay.clock.advance(MINUTE_MS - 12_001);
    assert.equal((await patch(alice, 121)).json.retry_after_ms, 1);
    relay.clock.advance(1);
    assertStatus(await patch(alice, 122), 200);
    assert.equal((await patch(alice, 123)).json.retry_after_ms, 100);
  });

  Deno.test(`changes at once never pass the limit, on ${store}`, async () => {
    await using relay = await startTestRelay({
      config,
      limits: { profileChangesPerAgentPerMinute: 5, tokenRenewalsPerAgentPerHour: 3 },
    });
    const alice = await registerAgent(relay, "alice");
    const now = relay.clock.seconds();
    const patched = await Promise.all(
      Array.from({ length: 12 }, (_, n) => patch(alice, n)),
    );
    assert.equal(patched.filter(({ status }) => status === 200).length, 5);
    assert.equal(patched.filter(({ status }) => status === 429).length, 7);
    const renewed = await Promise.all(
      Array.from(
        { length: 8 },
        (_, n) => alice.call("POST", "/v1/owner-token", { timestamp: now + n }),
      ),
    );
    assert.equal(renewed.filter(({ status }) => status === 201).length, 3);
    assert.equal(renewed.filter(({ status }) => status === 429).length, 5);
  });

  Deno.test(`an agent renews its owner_token 60 times in any hour and not once more, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const alice = await registerAgent(relay, "alice");
    let token = "";
    for (let n = 0; n < 60; n++) {
      const answer = await alice.call("POST", "/v1/owner-token");
      assertStatus(answer, 201);
      token = answer.json.owner_token;
      relay.clock.advance(1_000);
    }
    const refused = await alice.call("POST", "/v1/owner-token");
    assertRefused(refused, "rate_limited", /60 new owner_tokens an hour/);
    assert.equal(refused.json.retry_after_ms, HOUR_MS - 60_000);
    // The last one given works on.
    assertStatus(await alice.bearer("GET", "/v1/whoami", { token }), 200);
    relay.clock.advance(HOUR_MS - 60_000);
    assertStatus(await alice.call("POST", "/v1/owner-token"), 201);
  });

  Deno.test(`refusals and repetitions count nothing, and a repetition is none of the refused, on ${store}`, async () => {
    await using relay = await startTestRelay({
      config,
      limits: { profileChangesPerAgentPerMinute: 2, tokenRenewalsPerAgentPerHour: 2 },
    });
    const alice = await registerAgent(relay, "alice");
    const timestamp = relay.clock.seconds() - 10;
    assertStatus(await patch(alice, 1, timestamp), 200);
    assertStatus(await alice.call("POST", "/v1/owner-token", { timestamp }), 201);
    for (let i = 0; i < 5; i++) {
      assertStatus(await patch(alice, 1, timestamp), 200);
      assertRefused(await alice.call("PATCH", ME, { body: { tags: 1 } }), "invalid_json");
      const again = await alice.call("POST", "/v1/owner-token", { timestamp });
      assertRefused(again, "invalid_signature", /used before/);
    }
    assertStatus(await patch(alice, 2), 200);
    assertStatus(await alice.call("POST", "/v1/owner-token"), 201);
    relay.clock.advance(1_000);
    assertRefused(await patch(alice, 3), "rate_limited");
    assertRefused(await alice.call("POST", "/v1/owner-token"), "rate_limited");
    // At the limit too: what was accepted is repeated, and what was used stays used.
    assertStatus(await patch(alice, 1, timestamp), 200);
    const used = await alice.call("POST", "/v1/owner-token", { timestamp });
    assertRefused(used, "invalid_signature", /used before/);
    assert.equal((await alice.call("GET", "/v1/whoami")).json.description, "2");
  });
}

Deno.test("an equal change that overtakes its repetition at the limit makes it no refused one", async () => {
  using kv = await openMemoryKv();
  const reads = delayReads(kv);
  await using relay = await startTestRelay({
    deps: { kv: reads.kv },
    limits: { profileChangesPerAgentPerMinute: 1 },
  });
  const alice = await registerAgent(relay, "alice");
  reads.hold(([name]) => name === "sig");
  const both = [1, 2].map(() => patch(alice, 1));
  // Both have looked for an earlier answer before either is stored.
  await reads.reached(2);
  reads.release();
  for (const answer of await Promise.all(both)) assertStatus(answer, 200);
});

Deno.test("the limits of an agent hold over processes that share a store", async () => {
  using kv = await openMemoryKv();
  const options = {
    deps: { kv },
    config: { sharedStore: true },
    limits: { profileChangesPerAgentPerMinute: 6, tokenRenewalsPerAgentPerHour: 4 },
  };
  await using one = await startTestRelay(options);
  await using two = await startTestRelay(options);
  const alice = await registerAgent(one, "alice");
  const both = [alice, alice.at(two)];
  for (let n = 0; n < 6; n++) assertStatus(await patch(both[n % 2]!, n), 200);
  for (const agent of both) assertRefused(await patch(agent, 9), "rate_limited");
  const now = one.clock.seconds();
  for (let n = 0; n < 4; n++) {
    const answer = await both[n % 2]!.call("POST", "/v1/owner-token", { timestamp: now + n });
    assertStatus(answer, 201);
  }
  for (const agent of both) {
    const answer = await agent.call("POST", "/v1/owner-token", { timestamp: now + 9 });
    assertRefused(answer, "rate_limited");
  }
});

Deno.test("the tool update_profile and PATCH by its token share the limit of profile changes", async () => {
  await using relay = await startTestRelay({ limits: { profileChangesPerAgentPerMinute: 2 } });
  const agent = await ToolAgent.register(relay.url, "toolish");
  await agent.done("update_profile", { description: "one" });
  assertStatus(await agent.rest("PATCH", ME, { description: "two" }), 200);
  const refused = await agent.call("update_profile", { description: "three" });
  assertToolRefused(refused, "rate_limited", /2 profile changes a minute/);
  assert.equal(refused.error!.retry_after_ms, MINUTE_MS);
  assertRefused(await agent.rest("PATCH", ME, { description: "three" }), "rate_limited");
});

Deno.test("PATCH, update_profile and owner-token wait with 503 while the disk is nearly full; repetitions do not", async () => {
  let freeBytes = 600 * 1024 * 1024;
  const measureFreeBytes = () => Promise.resolve(freeBytes);
  using kv = await openMemoryKv();
  const dataDir = await Deno.makeTempDir();
  const options = { deps: { kv }, relay: { measureFreeBytes }, config: { dataDir } };
  let alice: TestAgent;
  let toolish: ToolAgent;
  let timestamp: number;
  {
    await using relay = await startTestRelay(options);
    alice = await registerAgent(relay, "alice");
    toolish = await ToolAgent.register(relay.url, "toolish");
    timestamp = relay.clock.seconds();
    assertStatus(await patch(alice, 1, timestamp), 200);
    assertStatus(await alice.call("POST", "/v1/owner-token", { timestamp }), 201);
  }
  freeBytes = 512 * 1024 * 1024 - 1;
  {
    await using relay = await startTestRelay(options);
    const again = alice.at(relay);
    const before = await listRows(kv);
    for (
      const answer of [
        await patch(again, 2),
        await again.call("POST", "/v1/owner-token", { timestamp: timestamp + 1 }),
      ]
    ) {
      assertRefused(answer, "unavailable", /disk/);
      assert.equal(answer.headers.get("retry-after"), "60");
    }
    const tool = await toolish.at(relay.url).call("update_profile", { description: "x" });
    assertToolRefused(tool, "unavailable", /disk/);
    assert.deepEqual(await listRows(kv), before);
    assertStatus(await patch(again, 1, timestamp), 200);
    const used = await again.call("POST", "/v1/owner-token", { timestamp });
    assertRefused(used, "invalid_signature", /used before/);
    assertRefused(await again.call("PATCH", ME, { body: "{" }), "invalid_json");
  }
  await Deno.remove(dataDir, { recursive: true });
});
