/** PATCH /v1/agents/me: what changes, what is refused, what a repetition does. */
import { storedRecord } from "../../support/read_through.ts";
import assert from "node:assert/strict";
import {
  subscriptionKey,
  type SubscriptionRecord,
} from "../../../server/messaging/digest/subscription.ts";
import { inKey } from "../../../server/messaging/mailboxes/agent_mailboxes.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { listRows } from "../../support/store_rows.ts";
import {
  type Payload,
  registerAgent,
  registerAgents,
  TestAgent,
} from "../../support/test_agent.ts";

const PATH = "/v1/agents/me";
const patch = (agent: TestAgent, body: Payload, timestamp?: number) =>
  agent.call("PATCH", PATH, { body, ...(timestamp === undefined ? {} : { timestamp }) });

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";
  const config = { sharedStore };

  Deno.test(`a profile update changes the fields present and answers the profile, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const alice = await registerAgent(relay, "alice", {
      profile: { display_name: "Alice", description: "before", tags: ["a", "b"] },
    });
    const created_at = new Date(relay.clock.now()).toISOString();
    relay.clock.advance(5_000);
    const profile = {
      handle: "alice",
      word_name: alice.wordName,
      address: alice.address,
      display_name: "Alice",
      description: "before",
      tags: ["a", "b"],
      created_at,
      last_seen_at: new Date(relay.clock.now()).toISOString(),
    };
    for (
      const [body, changed] of [
        [{}, {}],
        [{ description: "  after\n\twith 🦊 " }, { description: "after\n\twith 🦊" }],
        [{ display_name: " Al " }, { display_name: "Al" }],
        [{ tags: [" C ", "c", "d-1"] }, { tags: ["c", "d-1"] }],
        [{ tags: [] }, { tags: [] }],
        [{ description: "", display_name: "", tags: ["x"] }, {
          description: "",
          display_name: "",
          tags: ["x"],
        }],
      ] as const
    ) {
      Object.assign(profile, changed);
      const answer = await patch(alice, body as unknown as Payload);
      assertStatus(answer, 200);
      assert.deepEqual(answer.json, profile);
      assert.deepEqual((await ask(`${relay.url}/v1/agents/alice`)).json, profile);
      const whoami = await alice.call("GET", "/v1/whoami");
      assert.deepEqual(whoami.json.tags, profile.tags);
      const [listed] = (await ask(`${relay.url}/v1/agents`)).json.agents;
      const { last_seen_at: _, ...fields } = profile;
      assert.deepEqual(listed, { id: 1, ...fields });
      const [found] = (await ask(`${relay.url}/v1/agents?q=alice`)).json.agents;
      assert.deepEqual(found, { id: 1, ...fields });
    }
  });

  Deno.test(`a refused update changes nothing at all, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const [alice] = await registerAgents(relay, "alice");
    const before = await listRows(relay.deps.kv);
    const refused: [Payload, RegExp][] = [
      ["", /body/],
      ["[]", /object/],
      ["null", /object/],
      ["{", /./],
      ['{"tags":[],"tags":["a"]}', /twice/],
      [{ handle: "other" }, /handle/],
      [{ pubkey: alice.address }, /pubkey/],
      [{ word_name: "a-b-c" }, /word_name/],
      [{ last_seen_at: null }, /last_seen_at/],
      [{ Description: "x" }, /Description/],
      [{ description: "fine", surprise: 1 }, /surprise/],
      ['{"__proto__":1}', /__proto__/],
      ['{"constructor":1}', /constructor/],
      [{ description: null }, /description/],
      [{ display_name: null }, /display_name/],
      [{ tags: null }, /tags/],
      [{ description: 1 }, /description/],
      [{ display_name: ["x"] }, /display_name/],
      [{ tags: "a,b" }, /tags/],
      [{ tags: [1] }, /tags/],
      [{ tags: ["a b"] }, /tags/],
      [{ tags: ["x".repeat(33)] }, /tags/],
      [{ tags: Array.from({ length: 11 }, (_, i) => `t${i}`) }, /tags/],
      [{ description: "x".repeat(501) }, /500/],
      [{ display_name: "x".repeat(101) }, /100/],
      [{ display_name: "a\nb" }, /display_name/],
      [{ description: "a\u202eb" }, /description/],
      [{ notification_email: "" }, /notification_email/],
      [{ notification_email: "nobody" }, /notification_email/],
      [{ notification_email: 5 }, /notification_email/],
      [{ notification_email: `${"a".repeat(310)}@example.org` }, /notification_email/],
      // One bad field refuses the good ones with it.
      [{ description: "good", tags: ["good"], notification_email: "bad" }, /notification_email/],
    ];
    for (const [body, message] of refused) {
      assertRefused(await patch(alice, body), "invalid_json", message);
    }
    assertRefused(await patch(alice, "x".repeat(300_000)), "payload_too_large");
    assert.deepEqual(await listRows(relay.deps.kv), before);
    assertStatus(await patch(alice, { tags: Array.from({ length: 10 }, (_, i) => `t${i}`) }), 200);
    assertStatus(await patch(alice, { description: "🦊".repeat(500) }), 200);
    assertStatus(await patch(alice, { display_name: "🦊".repeat(100) }), 200);
  });

  Deno.test(`an update needs a signature over its very body, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const [alice] = await registerAgents(relay, "alice");
    const before = await listRows(relay.deps.kv);
    const body = new TextEncoder().encode('{"description":"mine"}');
    const url = `${relay.url}${PATH}`;
    const send = (headers: Record<string, string>) => ask(url, { method: "PATCH", headers, body });
    assertRefused(await send({}), "unknown_token");
    assertRefused(await send({ Authorization: "Bearer nothing" }), "unknown_token");
    assertRefused(await send(alice.sign("PATCH", PATH)), "invalid_signature");
    assertRefused(await send(alice.sign("POST", PATH, body)), "invalid_signature");
    assertRefused(await send(alice.sign("PATCH", "/v1/agents/alice", body)), "invalid_signature");
    const late = relay.clock.seconds() - 301;
    assertRefused(await send(alice.sign("PATCH", PATH, body, late)), "timestamp_out_of_range");
    assertRefused(await send(new TestAgent(relay).sign("PATCH", PATH, body)), "unknown_agent");
    const byOwner = await alice.bearer("PATCH", PATH, { body: '{"description":"mine"}' });
    assertRefused(byOwner, "unknown_token", /owner_token/);
    // Before the body is looked at.
    assertRefused(await alice.bearer("PATCH", PATH, { body: "{" }), "unknown_token");
    assert.deepEqual(await listRows(relay.deps.kv), before);
  });

  Deno.test(`a replayed update answers the present profile and changes nothing, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const [alice] = await registerAgents(relay, "alice");
    const timestamp = relay.clock.seconds();
    const first = await patch(alice, { description: "first", tags: ["one"] }, timestamp);
    assertStatus(first, 200);
    assertStatus(await patch(alice, { description: "second" }), 200);
    const rows = await listRows(relay.deps.kv);
    for (let i = 0; i < 3; i++) {
      const replay = await patch(alice, { description: "first", tags: ["one"] }, timestamp);
      assertStatus(replay, 200);
      assert.equal(replay.json.description, "second");
      assert.deepEqual(replay.json.tags, ["one"]);
    }
    assert.deepEqual(await listRows(relay.deps.kv), rows);
    relay.clock.advance(300_000);
    const last = await patch(alice, { description: "first", tags: ["one"] }, timestamp);
    assert.equal(last.json.description, "second");
    relay.clock.advance(1_000);
    const over = await patch(alice, { description: "first", tags: ["one"] }, timestamp);
    assertRefused(over, "timestamp_out_of_range");
  });

  Deno.test(`equal updates at one time are one, and different ones all take effect, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const timestamp = relay.clock.seconds();
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => patch(alice, { description: "same" }, timestamp)),
      ...Array.from({ length: 8 }, (_, i) => patch(bob, { tags: [`t${i}`] })),
      patch(alice, { display_name: "Al" }),
      patch(alice, { tags: ["x"] }),
    ]);
    for (const answer of answers) assertStatus(answer, 200);
    const { json } = await ask(`${relay.url}/v1/agents/alice`);
    assert.deepEqual([json.description, json.display_name, json.tags], ["same", "Al", ["x"]]);
    const log = await relay.deps.kv.get<{ seq: number }>(["directory", "log"]);
    assert.equal(log.value!.seq, 1 + 8 + 2);
  });

  Deno.test(`notification_email is set, kept and cleared, and shown nowhere, on ${store}`, async () => {
    await using relay = await startTestRelay({ config });
    const [alice] = await registerAgents(relay, "alice");
    const { kv } = relay.deps;
    const stored = async () => ({
      email: (await kv.get<SubscriptionRecord>(subscriptionKey(1))).value?.email ?? null,
      notify: (await storedRecord(kv, inKey(1))).value!.notify,
    });
    const secret = "alice.secret@example.org";
    const shown: string[] = [];
    const set = async (body: Payload) => {
      const answer = await patch(alice, body);
      assertStatus(answer, 200);
      shown.push(answer.text);
    };
    await set({ notification_email: ` ${secret} ` });
    assert.deepEqual(await stored(), { email: secret, notify: true });
    await set({ description: "something else" });
    assert.deepEqual(await stored(), { email: secret, notify: true });
    await set({ notification_email: "other.secret@example.org", tags: ["x"] });
    assert.deepEqual(await stored(), { email: "other.secret@example.org", notify: true });
    for (
      const path of ["/v1/agents/alice", "/v1/agents", "/v1/agents?q=alice", "/v1/agents?q=secret"]
    ) {
      shown.push((await ask(`${relay.url}${path}`)).text);
    }
    shown.push((await alice.call("GET", "/v1/whoami")).text, JSON.stringify(relay.logged));
    await set({ notification_email: null });
    assert.deepEqual(await stored(), { email: null, notify: false });
    for (const text of shown) assert.ok(!/secret@|notification_email/.test(text), text);
  });
}

Deno.test("a signature used for an update is not one used for something else", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  // The same second for every kind of signed request: paths and bodies tell them apart.
  const timestamp = relay.clock.seconds();
  assertStatus(await patch(alice, { tags: ["x"] }, timestamp), 200);
  assertStatus(await alice.call("POST", "/v1/owner-token", { timestamp }), 201);
  assertStatus(await alice.send({ to: "bob_1", body: 1 }, { timestamp }), 201);
  assert.deepEqual((await patch(alice, { tags: ["x"] }, timestamp)).json.tags, ["x"]);
});

Deno.test("GET /v1/agents/me looks for an agent that cannot be, and tells what the path takes", async () => {
  await using relay = await startTestRelay();
  const got = await ask(`${relay.url}${PATH}`);
  assertRefused(got, "not_found");
  const wrong = await ask(`${relay.url}${PATH}`, { method: "PUT" });
  assertRefused(wrong, "method_not_allowed");
  const allow = wrong.headers.get("allow")!.split(", ").sort();
  assert.deepEqual(allow, ["GET", "HEAD", "OPTIONS", "PATCH"]);
});
