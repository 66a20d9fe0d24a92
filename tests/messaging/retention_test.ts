/** A message lives for thirty days, to the millisecond, by the clock alone. */
import assert from "node:assert/strict";
import { assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

const RETENTION_MS = 30 * 86_400_000;
const FREE_POLLS = { inboxPollIntervalMs: 0 };

const bodiesOf = (messages: { body: unknown }[]) => messages.map(({ body }) => body);

Deno.test("a message is there for 30 days less a millisecond and then gone from inbox and outbox", async () => {
  await using relay = await startTestRelay({ limits: FREE_POLLS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const start = relay.clock.now();
  await alice.sent({ to: "bob_1", body: "first" });
  relay.clock.advance(1);
  const second = await alice.sent({ to: "bob_1", body: "x".repeat(65_000) });
  const bodies = async () => [
    bodiesOf((await bob.poll()).json.messages).length,
    bodiesOf((await bob.poll("unread=false")).json.messages).length,
    (await alice.outbox()).length,
  ];
  relay.clock.set(start + RETENTION_MS - 1);
  assert.deepEqual(await bodies(), [2, 2, 2]);
  relay.clock.advance(1);
  assert.deepEqual(await bodies(), [1, 1, 1]);
  relay.clock.advance(1);
  assert.deepEqual(await bodies(), [0, 0, 0]);
  const { json } = await bob.poll(`since_id=${second - 1}`);
  assert.deepEqual(json, { messages: [], last_id: second - 1 });
  relay.clock.advance(-1);
  assert.deepEqual(await bodies(), [1, 1, 1], "the clock decides, whichever way it goes");
});

Deno.test("an undelivered message expires too and is never stamped", async () => {
  await using relay = await startTestRelay({ limits: FREE_POLLS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const start = relay.clock.now();
  await alice.sent({ to: "bob_1", body: "unseen" });
  relay.clock.set(start + RETENTION_MS);
  for (const query of ["", "unread=true"]) {
    assert.deepEqual((await bob.poll(query)).json.messages, []);
  }
  relay.clock.set(start);
  assert.equal((await alice.outbox())[0].delivered_at, null);
});

Deno.test("what a clock hid that jumped ahead and back is delivered as if it never had", async () => {
  await using relay = await startTestRelay({ limits: FREE_POLLS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const start = relay.clock.now();
  await alice.sent({ to: "bob_1", body: "hidden" });
  relay.clock.set(start + 2 * RETENTION_MS);
  await alice.sent({ to: "bob_1", body: "ahead" });
  assert.deepEqual(bodiesOf((await bob.poll()).json.messages), ["ahead"]);
  relay.clock.set(start + 1000);
  assert.deepEqual(bodiesOf((await bob.poll("unread=true")).json.messages), ["hidden"]);
  const [hidden] = await alice.outbox();
  assert.equal(hidden.delivered_at, new Date(relay.clock.now()).toISOString());
});

Deno.test("expired rows between retained ones never shorten a page", async () => {
  await using relay = await startTestRelay({ limits: FREE_POLLS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const start = relay.clock.now();
  // A clock that went back: later ids with earlier times.
  const first = await alice.sent({ to: "bob_1", body: "a" });
  relay.clock.set(start - 600_000);
  for (let i = 0; i < 12; i++) await alice.sent({ to: "bob_1", body: `old ${i}` });
  relay.clock.set(start + 60_000);
  for (const body of ["b", "c", "d"]) await alice.sent({ to: "bob_1", body });
  relay.clock.set(start + RETENTION_MS - 300_000);
  for (
    const [query, expected] of [
      ["limit=1", ["a"]],
      ["limit=2", ["a", "b"]],
      ["limit=3", ["a", "b", "c"]],
      ["limit=200", ["a", "b", "c", "d"]],
      [`limit=2&since_id=${first}`, ["b", "c"]],
    ] as const
  ) {
    const page = (await bob.call("GET", "/v1/outbox", { query })).json;
    assert.deepEqual(page.messages, []);
    assert.deepEqual(bodiesOf(await alice.outbox(query)), expected, `outbox ${query}`);
    const answer = await bob.poll(query);
    assertStatus(answer, 200);
    assert.deepEqual(bodiesOf(answer.json.messages), expected, `inbox ${query}`);
    assert.equal(answer.json.last_id, answer.json.messages.at(-1).id);
  }
  assert.ok((await alice.outbox("limit=200")).every(({ delivered_at }) => delivered_at !== null));
});

Deno.test("unread=true finds what expired rows hide", async () => {
  await using relay = await startTestRelay({ limits: FREE_POLLS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const start = relay.clock.now();
  await alice.sent({ to: "bob_1", body: "a" });
  relay.clock.set(start - 600_000);
  for (let i = 0; i < 5; i++) await alice.sent({ to: "bob_1", body: `old ${i}` });
  relay.clock.set(start + 60_000);
  for (const body of ["b", "c"]) await alice.sent({ to: "bob_1", body });
  relay.clock.set(start + RETENTION_MS - 300_000);
  assert.deepEqual(bodiesOf((await bob.poll("unread=true&limit=2")).json.messages), ["a", "b"]);
  assert.deepEqual(bodiesOf((await bob.poll("unread=true")).json.messages), ["c"]);
  assert.deepEqual((await bob.poll("unread=true")).json.messages, []);
});

Deno.test("an agent whose whole inbox expired is sent to and polls as before", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const old = await alice.sent({ to: "bob_1", body: "old" });
  await bob.inbox();
  relay.clock.advance(10 * RETENTION_MS);
  assert.deepEqual(await bob.inbox(), []);
  const id = await alice.sent({ to: "bob_1", body: "new", in_reply_to: old });
  const [message] = await bob.inbox(`since_id=${old}`);
  assert.deepEqual([message.id, message.body, message.in_reply_to], [id, "new", old]);
  assert.deepEqual(bodiesOf(await alice.outbox()), ["new"]);
});

Deno.test("an operator's retention is in force", async () => {
  await using relay = await startTestRelay({ limits: { ...FREE_POLLS, retentionDays: 1 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await alice.sent({ to: "bob_1", body: 1 });
  relay.clock.advance(86_399_999);
  assert.equal((await bob.poll()).json.messages.length, 1);
  relay.clock.advance(1);
  assert.equal((await bob.poll()).json.messages.length, 0);
});
