/** What the operator's pages show and do. */
import assert from "node:assert/strict";
import { ask } from "../../support/answer.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { assertKeptByNobody, signIn, visit } from "../../messaging/operator/operator.ts";

const config = { adminToken: ADMIN_TOKEN };

Deno.test("a ban is asked back, done once, listed with its reason, and lifted", async () => {
  await using relay = await startTestRelay({ config });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const cookie = await signIn(relay);
  const reason = '<b>spam</b> & "more" \u00e9';
  const asked = await visit(relay, "/admin/ban", { cookie, form: { agent: "@Alice", reason } });
  assert.equal(asked.status, 200);
  assert.match(asked.text, /Ban alice\?/);
  assert.match(asked.text, /&lt;b&gt;spam&lt;\/b&gt; &amp;/);
  assertKeptByNobody(asked);
  assert.equal((await alice.send({ to: "bob_1", body: 1 })).status, 201, "not yet");
  const form = { agent: alice.address, reason, confirmed: "yes" };
  const done = await visit(relay, "/admin/ban", { cookie, form });
  assert.deepEqual([done.status, done.headers.get("location")], [303, "/admin/bans?done=banned"]);
  assert.equal((await alice.send({ to: "bob_1", body: 2 })).status, 403);
  const list = await visit(relay, "/admin/bans?done=banned", { cookie });
  assert.match(list.text, /The agent is banned\./);
  assert.match(list.text, /&lt;b&gt;spam/);
  assert.doesNotMatch(list.text, /<b>spam/);
  assertKeptByNobody(list);
  // By the API it is the same ban.
  const byApi = await ask(`${relay.url}/v1/admin/bans`, {
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  assert.deepEqual(
    byApi.json.bans.map(({ handle, reason }: Record<string, string>) => [handle, reason]),
    [
      ["alice", reason],
    ],
  );
  const purge = { agent: alice.address };
  assert.match(
    (await visit(relay, "/admin/purge", { cookie, form: purge })).text,
    /cannot be undone/,
  );
  assert.equal((await bob.poll()).json.messages.length, 1, "asked, and nothing done");
  relay.clock.advance(2_000);
  const purging = await visit(relay, "/admin/purge", {
    cookie,
    form: { ...purge, confirmed: "yes" },
  });
  assert.equal(purging.headers.get("location"), "/admin/bans?done=purging");
  const lifted = await visit(relay, "/admin/unban", { cookie, form: { agent: alice.address } });
  assert.equal(lifted.headers.get("location"), "/admin/bans?done=unbanned");
  assert.equal((await alice.send({ to: "bob_1", body: 3 })).status, 201);
  assert.match((await visit(relay, "/admin/bans", { cookie })).text, /Nobody is banned\./);
});

Deno.test("what cannot be done is said: unknown agents, long reasons, purges without a ban, odd forms", async () => {
  await using relay = await startTestRelay({ config });
  await registerAgents(relay, "alice");
  const cookie = await signIn(relay);
  const refusals: [string, Record<string, string>, number, RegExp][] = [
    ["ban", { agent: "nobody" }, 404, /no agent has this handle/i],
    ["ban", {}, 404, /no agent has this handle/i],
    ["ban", { agent: "alice", reason: "x".repeat(201) }, 400, /at most 200 characters/],
    ["ban", { agent: "alice", reason: "a\u202eb" }, 400, /text direction/],
    ["unban", { agent: "%00" }, 404, /no agent/i],
    ["purge", { agent: "alice", confirmed: "yes" }, 400, /ban it first/],
    ["ban", { agent: "a".repeat(9_000) }, 413, /payload_too_large/],
  ];
  assert.equal(refusals.length, 7);
  for (const [path, form, status, words] of refusals) {
    const answer = await visit(relay, `/admin/${path}`, { cookie, form });
    assert.equal(answer.status, status, answer.text.slice(0, 900));
    assert.match(answer.text, words);
  }
  assert.equal((await visit(relay, "/admin/bans?done=<script>", { cookie })).status, 400);
  assert.equal((await visit(relay, "/admin/bans?offset=x", { cookie })).status, 400);
});

Deno.test("the page shows the relay: start-up, health, queues, refusals, the log; no body, no token", async () => {
  await using relay = await startTestRelay({
    config,
    relay: { measureFreeBytes: () => Promise.resolve(7e9) },
  });
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  await alice.send({ to: "bob_1", body: "a body that nobody else reads" });
  await ask(`${relay.url}/v1/agents/nobody`);
  await ask(`${relay.url}/v1/agents/nobody_2`);
  relay.relay.log("an_event", { note: "<i>text</i>" });
  for (let i = 0; i < 60; i++) relay.relay.log(`event_${i}`);
  relay.relay.rememberStartup(["relay listening somewhere"]);
  const cookie = await signIn(relay);
  const { text } = await visit(relay, "/admin", { cookie });
  for (
    const part of [
      "relay listening somewhere",
      "<dt>Database</dt><dd>answers</dd>",
      "6,675 MiB; writes stop below 512 MiB",
      "<code>not_found</code></th>",
      "admin_signed_in",
      "event_59",
      "Nothing waits.",
    ]
  ) assert.ok(text.includes(part), part);
  assert.match(text, /<dt>Custody key<\/dt><dd><span class="lines"><code>[0-9a-f]{16}<\/code>/);
  assert.equal(
    [...text.matchAll(/<code>(?:event_\d+|admin_signed_in|an_event)<\/code>/g)].length,
    50,
  );
  assert.ok(!text.includes("event_9<"), "the oldest have gone");
  for (const secret of ["a body that", alice.ownerToken, alice.keys.privateKeyHex, ADMIN_TOKEN]) {
    assert.ok(!text.includes(secret));
  }
});

Deno.test("the page opens, and says so, when the store does not answer and the disk is full", async () => {
  const kv = await openMemoryKv();
  await using relay = await startTestRelay({
    config,
    deps: { kv },
    relay: { measureFreeBytes: () => Promise.resolve(1e6) },
  });
  const cookie = await signIn(relay);
  const { text } = await visit(relay, "/admin", { cookie });
  assert.match(text, /The disk is nearly full/);
  kv.close();
  const broken = await visit(relay, "/admin", { cookie });
  assert.equal(broken.status, 200);
  assert.match(broken.text, /The database does not answer\./);
  assert.match(broken.text, /The store does not answer/);
});
