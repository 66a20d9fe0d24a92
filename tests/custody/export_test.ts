/** POST /v1/keys/export: once, for the token of the tool server alone; then the agent signs for itself. */
import assert from "node:assert/strict";
import { keyPairFromHex } from "../../toolkit/mod.ts";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { setBanned } from "../support/ban_in_store.ts";
import { createFakeKv, NO_FAULTS } from "../support/fake_kv.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgent, TestAgent } from "../support/test_agent.ts";
import { assertToolRefused, ToolAgent } from "../support/tool_client.ts";

Deno.test("POST /v1/keys/export gives the key once; everything the agent had is still there", async () => {
  await using relay = await startTestRelay();
  const agent = await ToolAgent.register(relay.url, "leaving", { description: "stays" });
  const peer = await registerAgent(relay, "peer");
  await peer.sent({ to: "leaving", body: "before" });
  await agent.done("send_message", { to: "peer", body: "mine" });

  const answer = await agent.rest("POST", "/v1/keys/export");
  assertStatus(answer, 200);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { private_key_hex, note, ...told } = answer.json;
  assert.deepEqual(told, { address: agent.address, handle: "leaving", key_custody: "self" });
  assert.match(private_key_hex, /^[0-9a-f]{64}$/);
  assert.equal(typeof note, "string");

  const keys = keyPairFromHex(private_key_hex);
  assert.equal(keys.address, agent.address);
  const owner = new TestAgent(relay, keys);
  const whoami = await owner.call("GET", "/v1/whoami");
  assertStatus(whoami, 200);
  assert.equal(whoami.json.key_custody, "self");
  assert.equal(whoami.json.description, "stays");
  assert.deepEqual((await owner.inbox()).map(({ body }) => body), ["before"]);
  assert.deepEqual((await owner.outbox()).map(({ body }) => body), [{ text: "mine" }]);
  await owner.sent({ to: "peer", body: "signed by myself" });
  assertStatus(await owner.call("POST", "/v1/owner-token"), 201);

  for (const path of ["/v1/keys/export", "/v1/messages"]) {
    assertRefused(await agent.rest("POST", path, {}), "unknown_token");
  }
  assertRefused(await agent.rest("GET", "/v1/whoami"), "unknown_token");
  for (const tool of ["whoami", "check_inbox"]) {
    assertToolRefused(await agent.call(tool), "unknown_token");
  }
  assertToolRefused(
    await agent.call("send_message", { to: "peer", body: "no" }),
    "unknown_token",
  );
});

Deno.test("POST /v1/keys/export erases the stored key and the token in one commit", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    await using relay = await startTestRelay({ deps: { kv } });
    const agent = await ToolAgent.register(relay.url, "leaving");
    const rows = async (prefix: string) => await Array.fromAsync(kv.list({ prefix: [prefix] }));
    const [[custody], [token]] = await Promise.all([rows("custody"), rows("token")]);
    assert.ok(custody !== undefined && token !== undefined);
    assertStatus(await agent.rest("POST", "/v1/keys/export"), 200);
    assert.deepEqual(await rows("custody"), []);
    assert.deepEqual(await rows("token"), []);
  } finally {
    kv.close();
  }
});

Deno.test("POST /v1/keys/export: of concurrent exports exactly one gives the key", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-custody-" });
  const config = { dataDir: folder, sharedStore: true };
  const kvPath = `${folder}/relay.kv`;
  try {
    await using one = await startTestRelay({ config, kvPath });
    await using two = await startTestRelay({ config, kvPath });
    for (const relays of [[one], [one, two]]) {
      const agent = await ToolAgent.register(one.url, `leaving_${relays.length}`);
      const answers = await Promise.all(
        Array.from(
          { length: 10 },
          (_, i) => agent.at(relays[i % relays.length]!.url).rest("POST", "/v1/keys/export"),
        ),
      );
      const given = answers.filter(({ status }) => status === 200);
      assert.equal(given.length, 1);
      assert.equal(keyPairFromHex(given[0]!.json.private_key_hex).address, agent.address);
      for (const answer of answers) {
        if (answer.status !== 200) assertRefused(answer, "unknown_token");
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("POST /v1/keys/export gives the key once over a store whose answers get lost", async () => {
  const memory = await Deno.openKv(":memory:");
  try {
    const kv = createFakeKv({
      kv: memory,
      faults: { deniedSuccess: 0.2, lostAnswer: 0.2, locked: 0.2, repeated: 0.2 },
    });
    await using relay = await startTestRelay({
      deps: { kv },
      config: { sharedStore: true },
      limits: { toolRegistrationsPerIpPerHour: 100 },
    });
    for (let i = 0; i < 20; i++) {
      const agent = await ToolAgent.register(relay.url, `leaving_${i}`);
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => agent.rest("POST", "/v1/keys/export")),
      );
      const given = answers.filter(({ status }) => status === 200);
      assert.equal(given.length, 1, answers.map(({ text }) => text).join("\n"));
      assert.equal(keyPairFromHex(given[0]!.json.private_key_hex).address, agent.address);
    }
    assert.ok(
      Object.values(kv.faultCounts).every((count) => count > 0),
      JSON.stringify(kv.faultCounts),
    );
    Object.assign(kv.faults, NO_FAULTS); // it is not the shutdown's turn
  } finally {
    memory.close();
  }
});

Deno.test("POST /v1/keys/export racing with sends: each is stored and signed, or refused", async () => {
  await using relay = await startTestRelay();
  const agent = await ToolAgent.register(relay.url, "leaving");
  const peer = await registerAgent(relay, "peer");
  const sending = Array.from(
    { length: 10 },
    (_, i) => agent.rest("POST", "/v1/messages", { to: "peer", body: i }),
  );
  const exported = agent.rest("POST", "/v1/keys/export");
  const later = Array.from(
    { length: 10 },
    (_, i) => agent.rest("POST", "/v1/messages", { to: "peer", body: 10 + i }),
  );
  assertStatus(await exported, 200);
  const answers = await Promise.all([...sending, ...later]);
  for (const answer of answers) {
    if (answer.status === 201) continue;
    assert.ok(["unknown_token", "key_required"].includes(answer.json.error.code), answer.text);
  }
  const stored = answers.filter(({ status }) => status === 201).length;
  assert.equal((await peer.inbox("limit=200")).length, stored);
});

Deno.test("POST /v1/keys/export takes no other credential, and says which it takes", async () => {
  await using relay = await startTestRelay();
  const self = await registerAgent(relay, "self_custody");
  const path = "/v1/keys/export";
  assertRefused(await self.call("POST", path), "unknown_token", /tool-server/);
  assertRefused(await self.bearer("POST", path), "unknown_token", /tool-server/);
  assertRefused(await ask(`${relay.url}${path}`, { method: "POST" }), "unknown_token");
  const resolved = await ask(`${relay.url}/v1/agents/self_custody`);
  assert.equal(resolved.json.last_seen_at, null);
});

Deno.test("POST /v1/keys/export ignores its body, within bounds", async () => {
  await using relay = await startTestRelay();
  const export_ = async (handle: string, init: RequestInit) => {
    const agent = await ToolAgent.register(relay.url, handle);
    return await ask(`${relay.url}/v1/keys/export`, {
      method: "POST",
      ...init,
      headers: { Authorization: `Bearer ${agent.token}`, ...init.headers as object },
    });
  };
  assertStatus(await export_("empty", {}), 200);
  assertStatus(await export_("no_json", { body: "{not json", headers: {} }), 200);
  assertRefused(await export_("large", { body: "x".repeat(262_145) }), "payload_too_large");
  const headers = { "Content-Encoding": "gzip" };
  assertRefused(await export_("encoded", { body: "{}", headers }), "invalid_json");
});

Deno.test("POST /v1/keys/export works for a banned agent", async () => {
  const kv = await Deno.openKv(":memory:");
  try {
    await using relay = await startTestRelay({ deps: { kv }, config: { sharedStore: true } });
    const agent = await ToolAgent.register(relay.url, "banned_one");
    await setBanned(kv, "banned_one", true);
    assertStatus(await agent.rest("POST", "/v1/keys/export"), 200);
  } finally {
    kv.close();
  }
});
