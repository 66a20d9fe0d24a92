/** POST /v1/keys/export: once, for the token of the tool server alone; then the agent signs for itself. */
import assert from "node:assert/strict";
import { keyPairFromHex } from "../../../toolkit/mod.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { createFakeKv, NO_FAULTS } from "../../support/fake_kv.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent, TestAgent } from "../../support/test_agent.ts";
import { assertToolRefused, ToolAgent } from "../../support/tool_client.ts";

const PATH = "/v1/keys/export";

Deno.test("POST /v1/keys/export erases the stored key and the token in one commit", async () => {
  const kv = await openMemoryKv();
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
  const memory = await openMemoryKv();
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

Deno.test("POST /v1/keys/export answers exactly its fields, once, and leaves a self-custody agent with all it had", async () => {
  await using relay = await startTestRelay();
  const peer = await registerAgent(relay, "peer");
  const tool = await ToolAgent.register(relay.url, "leaver", { tags: ["x"], description: "d" });
  await tool.done("send_message", { to: "peer", body: "one" });
  await peer.sent({ to: "leaver", body: { text: "back" } });

  const exported = await tool.rest("POST", PATH);
  assertStatus(exported, 200);
  const { note, ...rest } = exported.json;
  assert.equal(typeof note, "string");
  assert.deepEqual(Object.keys(rest).sort(), [
    "address",
    "handle",
    "key_custody",
    "private_key_hex",
  ]);
  assert.equal(rest.address, tool.address);
  assert.equal(rest.handle, "leaver");
  assert.equal(rest.key_custody, "self");
  assert.match(rest.private_key_hex, /^[0-9a-f]{64}$/);
  assert.equal(exported.headers.get("cache-control"), "no-store");

  assertRefused(await tool.rest("POST", PATH), "unknown_token");
  for (const path of ["/v1/whoami", "/v1/inbox", "/v1/outbox"]) {
    assertRefused(await tool.rest("GET", path), "unknown_token");
  }
  assertRefused(await tool.rest("PATCH", "/v1/agents/me", { description: "n" }), "unknown_token");
  assertRefused(
    await tool.rest("POST", "/v1/messages", { to: "peer", body: 1 }),
    "unknown_token",
  );
  for (const name of ["whoami", "check_inbox", "update_profile"]) {
    assertToolRefused(
      await tool.call(name, name === "update_profile" ? { description: "" } : {}),
      "unknown_token",
    );
  }
  assertToolRefused(await tool.call("send_message", { to: "peer", body: "x" }), "unknown_token");

  const agent = new TestAgent(relay, keyPairFromHex(rest.private_key_hex));
  assert.equal(agent.address, tool.address);
  const whoami = await agent.call("GET", "/v1/whoami");
  assertStatus(whoami, 200);
  assert.equal(whoami.json.key_custody, "self");
  assert.deepEqual(whoami.json.tags, ["x"]);
  assert.equal(whoami.json.description, "d");
  assert.deepEqual((await agent.outbox()).map(({ body }) => body), [{ text: "one" }]);
  assert.deepEqual((await agent.inbox()).map(({ body }) => body), [{ text: "back" }]);
  await agent.sent({ to: "peer", body: "now mine" });
  assertStatus(await agent.call("PATCH", "/v1/agents/me", { body: { description: "self" } }), 200);
  // It can have an owner_token now, which reads and cannot send.
  const owner = await agent.call("POST", "/v1/owner-token");
  assertStatus(owner, 201);
  assertRefused(
    await agent.bearer("POST", "/v1/messages", {
      token: owner.json.owner_token,
      body: { to: "peer", body: 1 },
    }),
    "key_required",
  );
  assertRefused(
    await agent.bearer("POST", PATH, { token: owner.json.owner_token }),
    "unknown_token",
  );
  assertRefused(await agent.call("POST", PATH), "unknown_token");
});

Deno.test("POST /v1/keys/export refuses every other credential with 401 unknown_token that says which it takes", async () => {
  await using relay = await startTestRelay();
  const self = await registerAgent(relay, "self_agent");
  for (
    const answer of [
      await self.bearer("POST", PATH),
      await self.call("POST", PATH),
    ]
  ) {
    assertRefused(answer, "unknown_token", /tool-server/);
  }
  for (
    const Authorization of ["", "Bearer", "Bearer ", "Bearer  x", "Basic x", "Bearer rt_mcp_x"]
  ) {
    assertRefused(
      await ask(`${relay.url}${PATH}`, {
        method: "POST",
        headers: Authorization === "" ? {} : { Authorization },
      }),
      "unknown_token",
    );
  }
  const resolved = await ask(`${relay.url}/v1/agents/self_agent`);
  assert.equal(resolved.json.last_seen_at, null);
});

Deno.test("POST /v1/keys/export ignores its body, of any type; only 413 and Content-Encoding refuse, before authentication", async () => {
  await using relay = await startTestRelay();
  const url = `${relay.url}${PATH}`;
  const bodies: [string, BodyInit, Record<string, string>][] = [
    ["broken_json", "{not json", { "Content-Type": "text/plain" }],
    ["with_form", "a=b", { "Content-Type": "application/x-www-form-urlencoded" }],
    ["with_bytes", new Uint8Array([0xff, 0xfe]), {}],
  ];
  for (const [handle, body, headers] of bodies) {
    const tool = await ToolAgent.register(relay.url, handle);
    assertStatus(
      await ask(url, {
        method: "POST",
        body,
        headers: { Authorization: `bEaReR ${tool.token}`, ...headers },
      }),
      200,
    );
  }
  const held = await ToolAgent.register(relay.url, "held");
  const credentials = [undefined, { Authorization: `Bearer ${held.token}` }];
  for (const headers of credentials) {
    assertRefused(
      await ask(url, { method: "POST", headers, body: "x".repeat(256 * 1024 + 1) }),
      "payload_too_large",
    );
  }
  assertRefused(
    await ask(url, { method: "POST", body: "x", headers: { "Content-Encoding": "gzip" } }),
    "invalid_json",
    /encoding/i,
  );
  const wrong = await ask(url);
  assertRefused(wrong, "method_not_allowed");
  assert.deepEqual(wrong.headers.get("allow")!.split(", ").sort(), ["OPTIONS", "POST"]);
  assert.equal((await ask(url, { method: "OPTIONS" })).status, 204);
  assert.equal((await ask(url, { method: "HEAD" })).status, 405);
});

Deno.test("POST /v1/keys/export and the reads work for a banned agent; PATCH and sends do not", async () => {
  await using relay = await startTestRelay({ config: { adminToken: "t".repeat(32) } });
  const peer = await registerAgent(relay, "peer");
  const tool = await ToolAgent.register(relay.url, "outlaw");
  await peer.sent({ to: "outlaw", body: "before" });
  const ban = await ask(`${relay.url}/v1/admin/ban`, {
    method: "POST",
    headers: { Authorization: `Bearer ${"t".repeat(32)}` },
    body: JSON.stringify({ pubkey: tool.address }),
  });
  assertStatus(ban, 200);
  assert.deepEqual(ban.json, { ok: true });

  assertStatus(await tool.rest("GET", "/v1/whoami"), 200);
  assert.equal((await tool.rest("GET", "/v1/inbox")).json.messages.length, 1);
  assertStatus(await tool.rest("GET", "/v1/outbox"), 200);
  assertRefused(await tool.rest("POST", "/v1/messages", { to: "peer", body: 1 }), "banned");
  assertRefused(await tool.rest("POST", "/v1/messages", "not an object"), "banned");
  assertRefused(await tool.rest("PATCH", "/v1/agents/me", { handle: "no" }), "banned");
  assertToolRefused(await tool.call("send_message", { to: "peer", body: "x" }), "banned");
  assertToolRefused(await tool.call("update_profile", { description: "x" }), "banned");
  assert.equal((await tool.call("whoami")).isError, false);
  relay.clock.advance(2000);
  assert.equal((await tool.call("check_inbox")).isError, false);
  assertRefused(await peer.send({ to: "outlaw", body: 1 }), "recipient_banned");
  assertRefused(await peer.send({ to: tool.address, body: 1 }), "recipient_banned");
  assertRefused(await peer.send({ to: tool.wordName, body: 1 }), "recipient_banned");
  for (const name of ["outlaw", tool.address, tool.wordName, "@outlaw"]) {
    assertRefused(await ask(`${relay.url}/v1/agents/${name}`), "not_found");
  }
  const exported = await tool.rest("POST", PATH);
  assertStatus(exported, 200);
  const agent = new TestAgent(relay, keyPairFromHex(exported.json.private_key_hex));
  assertRefused(await agent.send({ to: "peer", body: 1 }), "banned");
  assertStatus(await agent.call("GET", "/v1/whoami"), 200);
  const lifted = await ask(`${relay.url}/v1/admin/unban`, {
    method: "POST",
    headers: { Authorization: `Bearer ${"t".repeat(32)}` },
    body: JSON.stringify({ pubkey: tool.address }),
  });
  assertStatus(lifted, 200);
  await agent.sent({ to: "peer", body: "again" });
});
