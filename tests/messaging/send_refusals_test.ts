/** POST /v1/messages: every refusal of a signed send, and which one stands first. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgents, TestAgent } from "../support/test_agent.ts";

Deno.test("a body that is no JSON object is invalid_json", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const before = await listRows(relay.deps.kv);
  for (const body of ["", " ", "null", "[]", '"x"', "1", "{", '{"to":"alice","body":1', "{}{}"]) {
    assertRefused(await alice.send(body), "invalid_json");
  }
  assert.deepEqual(await listRows(relay.deps.kv), before);
});

Deno.test("a missing or ill-typed field is invalid_json naming the field", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const before = await listRows(relay.deps.kv);
  const cases: [string, RegExp][] = [
    ['{"body":1}', /^to is required/],
    ['{"to":"alice"}', /^body is required/],
    ['{"to":"alice","Body":1}', /^body is required/],
  ];
  for (const to of ["null", "1", "true", '["alice"]', '{"handle":"alice"}']) {
    cases.push([`{"body":1,"to":${to}}`, /^to (must be a string|is required)/]);
  }
  const malformed = ["0", "-1", "1.5", "1e-1", '"1"', '""', "true", "[1]", "{}", "1e21", "-0"];
  for (const value of malformed) {
    cases.push([`{"body":1,"to":"alice","in_reply_to":${value}}`, /^in_reply_to .*2\^53-1/]);
  }
  for (const value of ['"html"', '"TEXT"', '" json"', '""', "1", "true", "[]", '["json"]', "{}"]) {
    cases.push([
      `{"body":1,"to":"alice","content_type":${value}}`,
      /^content_type must be one of: text, json/,
    ]);
  }
  for (const value of ["null", "1", "true", "[]", "{}"]) {
    cases.push([`{"body":${value},"to":"alice","content_type":"json"}`, /^body must be a string/]);
  }
  for (
    const text of ["", " ", "{", "{'a':1}", "01", "[1,]", "\ufeff1", "NaN", "1 2", "undefined"]
  ) {
    cases.push([
      JSON.stringify({ body: text, to: "alice", content_type: "json" }),
      /^inside body/,
    ]);
  }
  for (const [body, message] of cases) {
    assertRefused(await alice.send(body), "invalid_json", message);
  }
  assert.deepEqual(await listRows(relay.deps.kv), before);
});

Deno.test("`to` that is nobody's address is not_found", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const before = await listRows(relay.deps.kv);
  const { address, wordName } = alice;
  for (
    const to of [
      "",
      "@",
      "@@alice",
      " alice",
      "alice ",
      "%61lice",
      "alice\u0000",
      "bob_1",
      `@${address}`,
      `@${wordName}`,
      `${wordName}-active`,
      address.toLowerCase(),
      address.slice(1),
      new TestAgent(relay).address,
      "z".repeat(44),
      "x".repeat(10_000),
      "a-".repeat(5_000),
      "\u{1F600}",
    ]
  ) assertRefused(await alice.send({ to, body: 1 }), "not_found");
  assert.deepEqual(await listRows(relay.deps.kv), before);
});

Deno.test("refusals stand in order: size, sender, JSON, canonical size, recipient, limit", async () => {
  await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 1 } });
  const [alice] = await registerAgents(relay, "alice");
  const stranger = new TestAgent(relay);
  assertStatus(await alice.send({ to: "alice", body: 0 }), 201);
  const large = "x".repeat(65_535);
  const raw = new Uint8Array(262_145);
  assertRefused(await stranger.send(raw), "payload_too_large", /262144/);
  assertRefused(await stranger.send("{"), "unknown_agent");
  assertRefused(
    await alice.send({ to: "nobody", body: large, content_type: "html" }),
    "invalid_json",
  );
  assertRefused(await alice.send({ to: "nobody", body: large, in_reply_to: 0 }), "invalid_json");
  assertRefused(await alice.send({ to: 1, body: large }), "invalid_json");
  assertRefused(await alice.send({ to: "nobody", body: large }), "payload_too_large", /65536/);
  assertRefused(await alice.send({ to: "nobody", body: 1 }), "not_found");
  assertRefused(await alice.send({ to: "alice", body: 1 }), "rate_limited");
  relay.clock.advance(60_000);
  assertStatus(await alice.send({ to: "alice", body: 1 }), 201);
});
