/** POST /v1/admin/ban and /unban: who may call them, and what they do on every surface. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { ADMIN_TOKEN, askAdmin, readFigures, setBanned } from "../../support/figures.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent, registerAgents, TestAgent } from "../../support/test_agent.ts";

const config = { adminToken: ADMIN_TOKEN };
const NOBODY = "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z";

Deno.test("admin endpoints refuse every token but the configured one, before they look further", async () => {
  await using relay = await startTestRelay({ config });
  const [alice] = await registerAgents(relay, "alice");
  const wrong = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    `Bearer ${ADMIN_TOKEN} `.trimEnd() + "x",
    `Bearer ${ADMIN_TOKEN.slice(0, -1)}`,
    `Bearer ${ADMIN_TOKEN.toUpperCase()}`,
    `Bearer  ${ADMIN_TOKEN}`,
    `Bearer\t${ADMIN_TOKEN}`,
    `Basic ${ADMIN_TOKEN}`,
    ADMIN_TOKEN,
    `Bearer ${alice.ownerToken}`,
  ];
  for (const verb of ["ban", "unban"]) {
    for (const authorization of wrong) {
      for (const body of ["", "{", `{"pubkey":"${alice.address}"}`, `{"pubkey":"${NOBODY}"}`]) {
        const answer = await ask(`${relay.url}/v1/admin/${verb}`, {
          method: "POST",
          headers: authorization === undefined ? {} : { Authorization: authorization },
          body,
        });
        assertRefused(answer, "unknown_token");
        assert.equal(answer.status, 401);
      }
    }
    const large = { method: "POST", body: "x".repeat(256 * 1024 + 1) };
    assertRefused(await ask(`${relay.url}/v1/admin/${verb}`, large), "payload_too_large");
    // A signature is no admin's credential.
    assertRefused(
      await alice.call("POST", `/v1/admin/${verb}`, { body: { pubkey: alice.address } }),
      "unknown_token",
    );
  }
  assertStatus(await alice.call("GET", "/v1/agents/alice"), 200);
});

Deno.test("admin endpoints are closed while no admin token is configured", async () => {
  await using relay = await startTestRelay();
  for (const token of [ADMIN_TOKEN, "undefined", "null"]) {
    assertRefused(await askAdmin(relay, "ban", NOBODY, token), "unknown_token");
  }
  const bare = await ask(`${relay.url}/v1/admin/ban`, { method: "POST", body: "{}" });
  assertRefused(bare, "unknown_token");
});

Deno.test("a ban names a registered key, in the contract's shape of refusals", async () => {
  await using relay = await startTestRelay({ config });
  const target = await registerAgent(relay, "target");
  const headers = { Authorization: `bEARER ${ADMIN_TOKEN}` };
  for (const verb of ["ban", "unban"]) {
    const url = `${relay.url}/v1/admin/${verb}`;
    const call = (body: string) => ask(url, { method: "POST", headers, body });
    for (const body of ["", "{", "[]", "null", "{}", '{"pubkey":1}', '{"pubkey":null}']) {
      assertRefused(await call(body), "invalid_json");
    }
    for (
      const pubkey of [
        "",
        "x",
        "target",
        "@target",
        target.wordName,
        ` ${target.address}`,
        "1".repeat(32),
        "0".repeat(44),
        NOBODY.slice(0, 32),
        `${NOBODY}1`,
        "z".repeat(44),
      ]
    ) {
      assertRefused(await call(JSON.stringify({ pubkey })), "invalid_pubkey");
    }
    assertRefused(await call(JSON.stringify({ pubkey: NOBODY })), "not_found");
    assertRefused(await call(JSON.stringify({ pubkey: NOBODY, more: "ignored" })), "not_found");
    assertRefused(await call("x".repeat(300_000)), "payload_too_large");
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const answer = await ask(url, {
        method: "POST",
        headers: { Authorization: `${scheme} ${ADMIN_TOKEN}` },
        body: JSON.stringify({ pubkey: target.address }),
      });
      assertStatus(answer, 200);
      assert.deepEqual(answer.json, { ok: true });
      assert.equal(answer.headers.get("access-control-allow-origin"), null);
    }
  }
});

Deno.test("admin routes send no CORS headers", async () => {
  await using relay = await startTestRelay({ config });
  for (const method of ["OPTIONS", "GET", "POST"]) {
    const answer = await ask(`${relay.url}/v1/admin/ban`, {
      method,
      headers: { Origin: "https://example.org" },
    });
    for (const [name] of answer.headers) assert.ok(!name.startsWith("access-control"), name);
    assert.equal(answer.status, { OPTIONS: 204, GET: 405, POST: 401 }[method]);
    if (method !== "POST") assert.equal(answer.headers.get("allow"), "POST, OPTIONS");
  }
});

Deno.test("secrets of an admin call reach no log", async () => {
  await using relay = await startTestRelay({ config });
  const [alice] = await registerAgents(relay, "alice");
  await setBanned(relay, alice, true);
  await askAdmin(relay, "ban", alice.address, "a-wrong-token-that-must-not-be-logged");
  const logged = JSON.stringify(relay.logged);
  for (const secret of [ADMIN_TOKEN, "a-wrong-token"]) assert.ok(!logged.includes(secret));
});

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`a ban holds on every surface from its answer on, an unban ends it, on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { ...config, sharedStore } });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    await alice.sent({ to: "bob_1", body: "before" });
    await bob.sent({ to: "alice", body: "before" });
    const search = async (query: string) =>
      (await ask(`${relay.url}/v1/agents?${query}`)).json.agents
        .map((agent: { handle: string }) => agent.handle).sort();
    const figures = await readFigures(relay);

    await setBanned(relay, bob, true);
    for (const name of ["bob_1", "@BOB_1", bob.wordName, bob.address]) {
      assertRefused(await alice.call("GET", `/v1/agents/${name}`), "not_found");
      assertRefused(await alice.send({ to: name, body: 1 }), "recipient_banned");
    }
    assertRefused(await bob.send({ to: "alice", body: 1 }), "banned");
    assertRefused(
      await bob.bearer("POST", "/v1/messages", { body: { to: "alice", body: 1 } }),
      "banned",
    );
    assertRefused(await bob.call("PATCH", "/v1/agents/me", { body: { tags: ["x"] } }), "banned");
    // Before anything that the request itself could be refused for, and at a repetition.
    assertRefused(await bob.call("PATCH", "/v1/agents/me", { body: "{" }), "banned");
    for (const query of ["", "q=bob", "q=bob_1", `q=${bob.wordName}`]) {
      assert.ok(!(await search(query)).includes("bob_1"), query);
    }
    const during = await readFigures(relay);
    assert.deepEqual([during.events, during.agents], [[], []]);
    assert.deepEqual(during.stats, { total_messages: 2, total_agents: 1 });
    // What stays its own.
    assertStatus(await bob.call("GET", "/v1/whoami"), 200);
    assertStatus(await bob.bearer("GET", "/v1/whoami"), 200);
    assert.equal((await bob.inbox())[0].body, "before");
    assert.equal((await bob.outbox())[0].body, "before");
    assert.equal((await alice.inbox())[0].from_handle, "bob_1");
    assertStatus(await bob.call("POST", "/v1/owner-token"), 201);

    await setBanned(relay, bob, false);
    assert.deepEqual(await readFigures(relay), figures);
    assertStatus(await alice.call("GET", "/v1/agents/bob_1"), 200);
    for (const query of ["", "q=bob"]) assert.ok((await search(query)).includes("bob_1"), query);
    await alice.sent({ to: "bob_1", body: "after" });
    await bob.sent({ to: "alice", body: "after" });
    const patched = await bob.call("PATCH", "/v1/agents/me", { body: { tags: ["back"] } });
    assertStatus(patched, 200);
    assert.deepEqual(await search("tags=back"), ["bob_1"]);
  });

  Deno.test(`handle, key and word name of a banned agent stay bound to it, on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { ...config, sharedStore } });
    const [bob, other] = await registerAgents(relay, "bob_1", "other");
    await setBanned(relay, bob, true);
    const again = await other.askToRegister({ handle: "bob_1", pubkey: NOBODY });
    assertRefused(again, "handle_taken", /handle/);
    assertRefused(await bob.askToRegister({ handle: "bob_2" }), "handle_taken", /pubkey/);
  });
}

Deno.test("a ban binds handle, key and word name for ever, keeps old mail, and ends at once with unban", async () => {
  await using relay = await startTestRelay({ config });
  const outlaw = await registerAgent(relay, "outlaw");
  const peer = await registerAgent(relay, "peer");
  await outlaw.sent({ to: "peer", body: "old" });
  const timestamp = relay.clock.seconds() + 5;
  assertStatus(await outlaw.send({ to: "peer", body: "replayed" }, { timestamp }), 201);
  await setBanned(relay, outlaw, true);
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
  await setBanned(relay, outlaw, false);
  const replay = await outlaw.send({ to: "peer", body: "replayed" }, { timestamp });
  assertStatus(replay, 201);
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  assertStatus(await ask(`${relay.url}/v1/agents/outlaw`), 200);
});
