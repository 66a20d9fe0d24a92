/** GET /v1/agents/{identifier}: three address forms, and everything that is none. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { TEST_START_MS } from "../support/clock.ts";
import { askRaw } from "../support/raw_request.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgent, TestAgent } from "../support/test_agent.ts";

Deno.test("resolve answers exactly the profile of the contract for every address form", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice_9", {
    profile: { display_name: "Alice", tags: ["x"] },
  });
  const { address, wordName } = agent;
  for (
    const identifier of [
      "alice_9",
      "@alice_9",
      "ALICE_9",
      "@Alice_9",
      "%40alice_9",
      "%61lice%5F9",
      wordName,
      wordName.toUpperCase(),
      wordName.replaceAll("-", "%2D"),
      address,
      `%${address.charCodeAt(0).toString(16)}${address.slice(1)}`,
    ]
  ) {
    const answer = await askRaw(relay.port, { method: "GET", target: `/v1/agents/${identifier}` });
    assertStatus(answer, 200);
    assert.deepEqual(answer.json, {
      handle: "alice_9",
      word_name: wordName,
      address,
      display_name: "Alice",
      description: "",
      tags: ["x"],
      created_at: new Date(TEST_START_MS).toISOString(),
      last_seen_at: null,
    }, identifier);
  }
});

Deno.test("resolve is public: credentials, wrong ones too, and query are ignored", async () => {
  await using relay = await startTestRelay();
  await registerAgent(relay, "alice");
  const ignored: Record<string, string>[] = [
    { "X-Relay-Signature": "nonsense" },
    { "X-Relay-Pubkey": "nonsense", "Authorization": "Basic x" },
    { "Authorization": "Bearer rt_owner_unknown" },
  ];
  for (const headers of ignored) {
    assertStatus(await ask(`${relay.url}/v1/agents/alice?limit=x&limit=y`, { headers }), 200);
  }
});

Deno.test("resolve answers 404 for whatever is no agent's address", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const { address, wordName } = agent;
  const swapped = address.replace(/[a-z]/, (letter) => letter.toUpperCase());
  for (
    const identifier of [
      "nobody",
      "al",
      "me",
      "@",
      "@@alice",
      `@${wordName}`,
      `@${address}`,
      "alice%20",
      "%20alice",
      "alice%0A",
      "alice%00",
      "alice%2F",
      "%2540alice",
      "%C3%A4lice",
      "%FFalice",
      "alice%",
      "alice%4",
      "alice%zz",
      "%ED%A0%80",
      "a.lice",
      "%E2%84%AAelvin",
      `${wordName}-`,
      `-${wordName}`,
      wordName.split("-").slice(0, 2).join("-"),
      wordName.split("-").reverse().join("-"),
      wordName.replaceAll("-", "--"),
      `${wordName}-active`,
      swapped,
      address.slice(0, -1),
      `${address}1`,
      `1${address.slice(1)}`,
      new TestAgent(relay).address,
      "1".repeat(32),
      "1".repeat(33),
      "a".repeat(32),
      "z".repeat(44),
      "z".repeat(45),
      "a-".repeat(499),
      "a".repeat(5000),
      "__proto__",
      "constructor",
    ]
  ) {
    const target = `/v1/agents/${identifier}`;
    assertRefused(await askRaw(relay.port, { method: "GET", target }), "not_found");
  }
});

Deno.test("resolve matches its fixed segments by their literal spelling only", async () => {
  await using relay = await startTestRelay();
  await registerAgent(relay, "alice");
  for (
    const target of [
      "/v1/agents/alice/",
      "/v1/agents//alice",
      "//v1/agents/alice",
      "/V1/agents/alice",
      "/v1/Agents/alice",
      "/v1/%61gents/alice",
      "/v1/agents/",
      "/v1/agents/x/../alice",
      "/v1/agents/./alice",
      "/v1/agents/alice/x",
    ]
  ) assertRefused(await askRaw(relay.port, { method: "GET", target }), "not_found");
});

Deno.test("a handle of 32 letters that base58 could spell is a handle", async () => {
  await using relay = await startTestRelay();
  const handle = "abcdefghijkmnopqrstuvwxyz1234567";
  assert.equal(handle.length, 32);
  const agent = await registerAgent(relay, handle);
  const answer = await agent.call("GET", `/v1/agents/${handle}`);
  assert.equal(answer.json.address, agent.address);
  assert.ok(await agent.sent({ to: handle, body: null }) > 0);
});
