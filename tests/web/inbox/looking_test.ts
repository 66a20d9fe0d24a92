/** Looking at /inbox is no poll: the agent, its senders and the store are as if nobody had looked. */
import assert from "node:assert/strict";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../../support/relay.ts";
import { listRows } from "../../support/store_rows.ts";
import { registerAgents, type TestAgent } from "../../support/test_agent.ts";
import { visit } from "../../messaging/operator/operator.ts";
import { openInbox } from "./visitor.ts";

/** What an agent, its senders and everybody else see of it. */
async function seenOf(bob: TestAgent) {
  const profile = await bob.call("GET", "/v1/agents/alice");
  return { profile: profile.json, outbox: await bob.outbox() };
}

/** All rows, but for the two that tell how far the relay's own clock has come. */
async function rowsOf({ deps: { kv } }: TestRelay): Promise<string[]> {
  const rows = await listRows(kv, { marks: true });
  return rows.filter((row) => !/^\[ "meta", "(?:clock|lived)" \]/.test(row));
}

async function looks(relay: TestRelay, alice: TestAgent, ids: readonly number[]): Promise<void> {
  const cookie = await openInbox(relay, alice.ownerToken);
  const paths = ["/inbox", ...ids.flatMap((id) => [`/inbox/${id}`, `/inbox/${id}/message.json`])];
  for (const path of [...paths, `/inbox?before=${ids[2]}`]) {
    for (const method of ["GET", "HEAD"] as const) {
      assert.equal((await visit(relay, path, { cookie, method })).status, 200, path);
    }
  }
}

const STORES: readonly [string, TestRelayOptions][] = [
  ["an exclusive store", {}],
  ["a shared store", { config: { sharedStore: true } }],
];

for (const [name, options] of STORES) {
  Deno.test(`looking at /inbox changes no row of ${name}, not when its minute is over either`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    await alice.call("PATCH", "/v1/agents/me", { body: { notification_email: "a@example.org" } });
    const ids: number[] = [];
    for (let i = 0; i < 3; i++) ids.push(await bob.sent({ to: "alice", body: `message ${i}` }));
    await alice.inbox("limit=1");
    ids.push(await bob.sent({ to: "alice", body: "the last" }));
    await relay.relay.crons.figures!();
    const before = await seenOf(bob);
    await relay.relay.crons.figures!();
    const rows = await rowsOf(relay);
    relay.clock.advance(61_000);
    await looks(relay, alice, ids);
    await relay.relay.crons.figures!();
    assert.deepEqual(await rowsOf(relay), rows);
    assert.deepEqual((await seenOf(bob)).profile, before.profile);
    assert.deepEqual(
      before.outbox.map(({ delivered_at }) => delivered_at === null),
      [false, true, true, true],
    );
    assert.deepEqual((await seenOf(bob)).outbox, before.outbox);
    // The agent polls as it would have: at once, and what was not delivered is given.
    const given = await alice.poll("unread=true");
    assert.equal(given.status, 200);
    assert.deepEqual(given.json.messages.map(({ id }: { id: number }) => id), ids.slice(1));
  });
}

Deno.test("a look spends no interval of polls and ends no poll that waits", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const cookie = await openInbox(relay, alice.ownerToken);
  const arrived = relay.nextRequests(1);
  const waiting = alice.poll("wait=25");
  await arrived;
  for (let i = 0; i < 5; i++) assert.equal((await visit(relay, "/inbox", { cookie })).status, 200);
  const id = await bob.sent({ to: "alice", body: "came" });
  assert.deepEqual((await waiting).json.messages.map((one: { id: number }) => one.id), [id]);
});

Deno.test("/inbox lists the newest first, tells what was fetched, and goes on to older ones", async () => {
  await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 200 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids: number[] = [];
  for (let i = 0; i < 53; i++) ids.push(await bob.sent({ to: "alice", body: `message ${i} <b>` }));
  await alice.inbox("limit=2");
  const cookie = await openInbox(relay, alice.ownerToken);
  const first = await visit(relay, "/inbox", { cookie });
  const listed = (text: string) =>
    [...text.matchAll(/<a class="row( unread)?" href="\/inbox\/(\d+)/g)]
      .map(([, unread, id]) => [Number(id), unread !== undefined] as const);
  assert.deepEqual(listed(first.text), ids.slice(3).reverse().map((id) => [id, true] as const));
  assert.match(first.text, /message 52 &lt;b&gt;/);
  assert.doesNotMatch(first.text, /message \d+ <b>/);
  const older = /href="(\/inbox\?before=\d+)"/.exec(first.text)![1]!;
  const second = await visit(relay, older, { cookie });
  const rest: [number, boolean][] = [[ids[2]!, true], [ids[1]!, false], [ids[0]!, false]];
  assert.deepEqual(listed(second.text), rest);
  assert.doesNotMatch(second.text, /Older messages/);
  assert.equal((await visit(relay, "/inbox?before=0", { cookie })).status, 200);
  assert.equal((await visit(relay, "/inbox?before=x", { cookie })).status, 400);
});

Deno.test("/inbox gives bodies of every kind and size, and what was signed where parts do not rebuild it", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const long = "\u20ac".repeat(21_000);
  const bodies: [string, RegExp][] = [
    [JSON.stringify({ to: "alice", body: long }), /\u20ac{21000}/],
    [JSON.stringify({ to: "alice", body: { b: [1, "<i>"], a: null } }), /&lt;i&gt;/],
    ['{ "to":"alice",  "body" : "odd  spaces" }', /&quot;request_base64&quot;|request_base64/],
    [JSON.stringify({ to: "alice", body: '{"x":1}', content_type: "json" }), /&quot;x&quot;: 1/],
    [JSON.stringify({ to: "alice", body: "a\u202e\u0000b" }), /\\u\{202e\}\\u\{0\}b/],
    [JSON.stringify({ to: "alice", body: "" }), /An empty text/],
  ];
  const cookie = await openInbox(relay, alice.ownerToken);
  let read = 0;
  for (const [body, words] of bodies) {
    const answer = await bob.send(body);
    assert.equal(answer.status, 201, answer.text);
    const page = await visit(relay, `/inbox/${answer.json.id}`, { cookie });
    assert.equal(page.status, 200, JSON.stringify(relay.logged));
    assert.match(page.text, words);
    assert.equal((await visit(relay, "/inbox", { cookie })).status, 200);
    read++;
  }
  assert.equal(read, 6);
  assert.ok(!(await visit(relay, "/inbox", { cookie })).text.includes("\u202e"));
});
