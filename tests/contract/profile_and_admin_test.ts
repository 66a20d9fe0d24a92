/** The contract of PATCH /v1/agents/me and of the operator's endpoints, told from outside. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgent, TestAgent } from "../support/test_agent.ts";
import { generateKeyPair } from "../../toolkit/mod.ts";

const ADMIN = "operator-token-operator-token-xx";

function ban(relay: TestRelay, body: string, authorization?: string, verb = "ban") {
  return ask(`${relay.url}/v1/admin/${verb}`, {
    method: "POST",
    body,
    headers: authorization === undefined ? {} : { Authorization: authorization },
  });
}

Deno.test("PATCH changes the fields given alone and answers the AgentProfile", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "patched", {
    profile: { display_name: "N", description: "D", tags: ["a", "b"] },
  });
  const patch = async (body: string) => {
    relay.clock.advance(1000);
    return await agent.call("PATCH", "/v1/agents/me", { body });
  };
  const first = await patch('{"tags":[" B ","c","b"]}');
  assertStatus(first, 200);
  assert.deepEqual(Object.keys(first.json).filter((name) => name !== "last_seen_at").sort(), [
    "address",
    "created_at",
    "description",
    "display_name",
    "handle",
    "tags",
    "word_name",
  ]);
  assert.deepEqual(first.json.tags, ["b", "c"]);
  assert.equal(first.json.display_name, "N");
  assert.equal(first.json.description, "D");
  const cases: [string, (json: Record<string, unknown>) => unknown, unknown][] = [
    ['{"display_name":"  x  "}', (json) => json.display_name, "x"],
    ['{"display_name":""}', (json) => json.display_name, ""],
    ['{"description":" a\\n\\tb "}', (json) => json.description, "a\n\tb"],
    ['{"tags":[]}', (json) => json.tags, []],
    ["{}", (json) => json.tags, []],
    [
      `{"description":"${"😀".repeat(500)}"}`,
      (json) => [...json.description as string].length,
      500,
    ],
    [`{"display_name":"${"é".repeat(100)}"}`, (json) => json.display_name, "é".repeat(100)],
    ['{"notification_email":null}', (json) => "notification_email" in json, false],
    ['{"notification_email":"me@example.org"}', (json) => "notification_email" in json, false],
    [
      `{"tags":[${Array.from({ length: 20 }, (_, i) => `"t${i % 10}"`)}]}`,
      (json) => (json.tags as string[]).length,
      10,
    ],
  ];
  for (const [body, read, expected] of cases) {
    const answer = await patch(body);
    assertStatus(answer, 200);
    assert.deepEqual(read(answer.json), expected, body.slice(0, 80));
  }
  const refused: [string, RegExp][] = [
    ["", /./],
    ["[]", /object/],
    ["null", /object/],
    ['{"handle":"x"}', /handle/],
    ['{"pubkey":"x"}', /pubkey/],
    ['{"__proto__":1}', /__proto__/],
    ['{"display_name":null}', /display_name/],
    ['{"description":null}', /description/],
    ['{"tags":null}', /tags/],
    ['{"tags":"a"}', /tags/],
    ['{"tags":[1]}', /tags/],
    ['{"tags":["a_b"]}', /tags/],
    ['{"tags":[""]}', /tags/],
    [`{"tags":["${"a".repeat(33)}"]}`, /tags/],
    [`{"tags":[${Array.from({ length: 11 }, (_, i) => `"t${i}"`)}]}`, /tags/],
    [`{"description":"${"x".repeat(501)}"}`, /description/],
    [`{"display_name":"${"x".repeat(101)}"}`, /display_name/],
    ['{"display_name":"a\\nb"}', /display_name/],
    ['{"display_name":"a\\u2028b"}', /display_name/],
    ['{"display_name":"a\\u061cb"}', /display_name/],
    ['{"display_name":"a\\u0085b"}', /display_name/],
    ['{"description":"a\\rb"}', /description/],
    ['{"description":"a\\u202eb"}', /description/],
    ['{"description":"a","description":"b"}', /twice|duplicate/],
    ['{"description":"ok","display_name":5}', /display_name/],
    ['{"description":"ok","nope":5}', /nope/],
  ];
  const before = (await ask(`${relay.url}/v1/agents/patched`)).json;
  for (const [body, names] of refused) {
    assertRefused(await patch(body), "invalid_json", names);
  }
  const after = (await ask(`${relay.url}/v1/agents/patched`)).json;
  delete before.last_seen_at;
  delete after.last_seen_at;
  assert.deepEqual(after, before);
  const big = await agent.call("PATCH", "/v1/agents/me", { body: " ".repeat(256 * 1024 + 1) });
  assertRefused(big, "payload_too_large");
});

Deno.test("admin endpoints take the operator's token alone, then a key", async () => {
  await using relay = await startTestRelay({ config: { adminToken: ADMIN } });
  const agent = await registerAgent(relay, "target");
  const pubkey = JSON.stringify({ pubkey: agent.address });
  for (const verb of ["ban", "unban"]) {
    for (
      const authorization of [
        undefined,
        "",
        ADMIN,
        "Bearer",
        "Bearer ",
        `Bearer  ${ADMIN}`,
        `Bearer ${ADMIN}x`,
        `Bearer ${ADMIN.slice(0, -1)}`,
        `Bearer ${ADMIN.toUpperCase()}`,
        `Basic ${ADMIN}`,
        `Bearer ${agent.ownerToken}`,
        `Bearer\t${ADMIN}`,
      ]
    ) {
      assertRefused(await ban(relay, pubkey, authorization, verb), "unknown_token");
      assertRefused(await ban(relay, "{", authorization, verb), "unknown_token");
    }
    assertRefused(
      await ban(relay, "x".repeat(256 * 1024 + 1), undefined, verb),
      "payload_too_large",
    );
    for (const body of ["", "{", "[]", "{}", '{"pubkey":null}', '{"pubkey":5}']) {
      assertRefused(await ban(relay, body, `Bearer ${ADMIN}`, verb), "invalid_json");
    }
    for (
      const value of [
        "",
        "target",
        "@target",
        agent.wordName,
        "x".repeat(44),
        "1".repeat(32),
        ` ${agent.address}`,
      ]
    ) {
      const answer = await ban(relay, JSON.stringify({ pubkey: value }), `Bearer ${ADMIN}`, verb);
      assertRefused(answer, "invalid_pubkey");
    }
    const stranger = JSON.stringify({ pubkey: generateKeyPair().address });
    assertRefused(await ban(relay, stranger, `Bearer ${ADMIN}`, verb), "not_found");
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const answer = await ban(relay, pubkey, `${scheme} ${ADMIN}`, verb);
      assertStatus(answer, 200);
      assert.deepEqual(answer.json, { ok: true });
      assert.equal(answer.headers.get("access-control-allow-origin"), null);
    }
    const get = await ask(`${relay.url}/v1/admin/${verb}`);
    assertRefused(get, "method_not_allowed");
    assert.deepEqual(get.headers.get("allow")!.split(", ").sort(), ["OPTIONS", "POST"]);
    assert.equal(get.headers.get("access-control-allow-origin"), null);
    const options = await ask(`${relay.url}/v1/admin/${verb}`, { method: "OPTIONS" });
    assert.equal(options.status, 204);
    assert.equal(options.headers.get("access-control-allow-origin"), null);
  }
});

Deno.test("admin endpoints answer 401 to everything while no token is set", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "target");
  for (
    const authorization of [
      undefined,
      "Bearer ",
      "Bearer undefined",
      "Bearer null",
      `Bearer ${ADMIN}`,
    ]
  ) {
    assertRefused(
      await ban(relay, JSON.stringify({ pubkey: agent.address }), authorization),
      "unknown_token",
    );
  }
});

Deno.test("a ban binds handle, key and word name for ever, keeps old mail, and ends at once with unban", async () => {
  await using relay = await startTestRelay({ config: { adminToken: ADMIN } });
  const outlaw = await registerAgent(relay, "outlaw");
  const peer = await registerAgent(relay, "peer");
  await outlaw.sent({ to: "peer", body: "old" });
  const timestamp = relay.clock.seconds() + 5;
  assertStatus(await outlaw.send({ to: "peer", body: "replayed" }, { timestamp }), 201);
  const pubkey = JSON.stringify({ pubkey: outlaw.address });
  assertStatus(await ban(relay, pubkey, `Bearer ${ADMIN}`), 200);
  assertRefused(
    await new TestAgent(relay).askToRegister({ handle: "outlaw" }),
    "handle_taken",
    /handle/,
  );
  assertRefused(await outlaw.askToRegister({ handle: "fresh_one" }), "handle_taken", /key/);
  assert.equal((await peer.inbox()).length, 2);
  assertRefused(await outlaw.send({ to: "peer", body: "replayed" }, { timestamp }), "banned");
  assertRefused(
    await outlaw.call("PATCH", "/v1/agents/me", { body: { description: "x" } }),
    "banned",
  );
  assertRefused(await outlaw.bearer("POST", "/v1/messages", { body: "{" }), "banned");
  const patchByToken = await outlaw.bearer("PATCH", "/v1/agents/me", { body: "{" });
  assertRefused(patchByToken, "unknown_token");
  assertStatus(await outlaw.bearer("GET", "/v1/whoami"), 200);
  assertStatus(await outlaw.call("GET", "/v1/outbox"), 200);
  assertRefused(await outlaw.send({ to: "outlaw", body: 1 }), "banned");
  assertStatus(await outlaw.poll(), 200);
  assertStatus(await ban(relay, pubkey, `Bearer ${ADMIN}`, "unban"), 200);
  const replay = await outlaw.send({ to: "peer", body: "replayed" }, { timestamp });
  assertStatus(replay, 201);
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  assertStatus(await ask(`${relay.url}/v1/agents/outlaw`), 200);
});
