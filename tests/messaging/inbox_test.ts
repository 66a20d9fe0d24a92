/** GET /v1/inbox: pages, cursors, stamps. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgent, registerAgents, type TestAgent } from "../support/test_agent.ts";

const MANY = { sendsPerAgentPerMinute: 10_000, inboxPollIntervalMs: 0 };

const idsOf = (messages: { id: number }[]) => messages.map(({ id }) => id);

async function sendMany(from: TestAgent, to: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i++) ids.push(await from.sent({ to, body: i }));
  return ids;
}

Deno.test("an empty inbox answers no messages and the since_id that was used", async () => {
  await using relay = await startTestRelay({ limits: MANY });
  const [bob] = await registerAgents(relay, "bob_1");
  for (
    const [query, lastId] of [
      [undefined, 0],
      ["", 0],
      ["since_id=0", 0],
      ["since_id=42", 42],
      ["since_id=-42", 0],
      ["since_id=9007199254740991", 9007199254740991],
      ["since_id=99999999999999999999", 9007199254740991],
      ["since_id=-99999999999999999999", 0],
    ] as const
  ) {
    const answer = await bob.poll(query);
    assertStatus(answer, 200);
    assert.equal(answer.text, `{"messages":[],"last_id":${lastId}}`);
    assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
});

Deno.test("pages ascend by id, since_id is exclusive, last_id is the last one's", async () => {
  await using relay = await startTestRelay({ limits: MANY });
  const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
  const ids: number[] = [];
  for (let i = 0; i < 7; i++) {
    ids.push(await (i % 2 === 0 ? alice : carol).sent({ to: "bob_1", body: i }));
    await alice.sent({ to: "carol", body: "not bob's" });
    relay.clock.advance(i % 3);
  }
  const page = async (query: string) => (await bob.poll(query)).json;
  const first = await page("limit=3");
  assert.deepEqual(idsOf(first.messages), ids.slice(0, 3));
  assert.equal(first.last_id, ids[2]);
  const second = await page(`limit=3&since_id=${first.last_id}`);
  assert.deepEqual(idsOf(second.messages), ids.slice(3, 6));
  const third = await page(`since_id=${second.last_id}&limit=3`);
  assert.deepEqual(idsOf(third.messages), [ids[6]]);
  const end = await page(`since_id=${third.last_id}`);
  assert.deepEqual(end, { messages: [], last_id: ids[6] });
  assert.deepEqual(idsOf((await page(`since_id=${ids[3]! - 1}`)).messages), ids.slice(3));
  assert.deepEqual(idsOf((await page("since_id=1")).messages), ids);
});

Deno.test("limit is 50 unless given and clamped into 1..200, in inbox and outbox", async () => {
  await using relay = await startTestRelay({ limits: MANY });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids = await sendMany(alice, "bob_1", 202);
  for (
    const [query, size] of [
      ["", 50],
      ["limit=1", 1],
      ["limit=0", 1],
      ["limit=-7", 1],
      ["limit=199", 199],
      ["limit=200", 200],
      ["limit=201", 200],
      ["limit=99999999999999999999", 200],
      ["limit=007", 7],
    ] as const
  ) {
    for (const path of ["/v1/inbox", "/v1/outbox"]) {
      const { json } = await (path === "/v1/inbox" ? bob : alice).call("GET", path, { query });
      assert.deepEqual(idsOf(json.messages), ids.slice(0, size), `${path}?${query}`);
      assert.equal(json.last_id, ids[size - 1]);
    }
  }
});

Deno.test("a malformed or repeated parameter is invalid_json naming it and counts as no poll", async () => {
  await using relay = await startTestRelay();
  const [bob] = await registerAgents(relay, "bob_1");
  const before = await listRows(relay.deps.kv, { marks: true });
  const malformed = ["", "x", "1.5", "1e3", "+1", "%201", "0x1", "1".repeat(21), "%zz", "true"];
  for (const name of ["since_id", "limit", "wait"]) {
    for (const value of malformed) {
      assertRefused(await bob.poll(`${name}=${value}`), "invalid_json", new RegExp(name));
    }
    assertRefused(await bob.poll(name), "invalid_json", new RegExp(name));
    assertRefused(await bob.poll(`${name}=1&${name}=1`), "invalid_json", new RegExp(name));
    assertRefused(
      await bob.poll(`${name}=1&x=2&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=1`),
      "invalid_json",
    );
  }
  for (const value of ["", "1", "TRUE", "yes", "null"]) {
    assertRefused(await bob.poll(`unread=${value}`), "invalid_json", /unread/);
  }
  assertRefused(await bob.poll("unread=true&unread=false"), "invalid_json", /unread/);
  for (const query of ["limit=x", "since_id=", "limit=1&limit=2"]) {
    assertRefused(await bob.call("GET", "/v1/outbox", { query }), "invalid_json");
  }
  assert.deepEqual(await listRows(relay.deps.kv, { marks: true }), before);
  assertStatus(await bob.poll("limit=1&x=1&x=2&__proto__=3&LIMIT=y"), 200);
  const outbox = await bob.call("GET", "/v1/outbox", { query: "unread=x&wait=x&wait=y" });
  assertStatus(outbox, 200);
});

Deno.test("delivered_at is stamped once, in the poll that first gives the message, for its page alone", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids = await sendMany(alice, "bob_1", 3);
  const stamps = async () => (await alice.outbox()).map(({ delivered_at }) => delivered_at);
  const at = () => new Date(relay.clock.now()).toISOString();
  assert.deepEqual(await stamps(), [null, null, null]);
  await bob.inbox("limit=1");
  const first = at();
  assert.deepEqual(await stamps(), [first, null, null]);
  await bob.inbox(`since_id=${ids[1]}`);
  const second = at();
  assert.deepEqual(await stamps(), [first, null, second]);
  await bob.inbox();
  const third = at();
  assert.deepEqual(await stamps(), [first, third, second]);
  await bob.inbox();
  assert.deepEqual(await stamps(), [first, third, second]);
});

Deno.test("delivered_at stands before the answer and is the same for polls at once", async () => {
  await using relay = await startTestRelay({ limits: MANY });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids = await sendMany(alice, "bob_1", 5);
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, i) => i % 2 === 0 ? bob.poll() : bob.bearer("GET", "/v1/inbox")),
  );
  for (const answer of answers) assert.deepEqual(idsOf(answer.json.messages), ids);
  const delivered = (await alice.outbox()).map(({ delivered_at }) => delivered_at);
  assert.deepEqual(new Set(delivered), new Set([new Date(relay.clock.now()).toISOString()]));
});

Deno.test("HEAD of the inbox stamps nothing, is no poll, and does not tell a size", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await sendMany(alice, "bob_1", 2);
  const before = await listRows(relay.deps.kv, { marks: true });
  for (const query of ["", "wait=25&since_id=999999999999999", "unread=true"]) {
    const head = await bob.call("HEAD", "/v1/inbox", { query });
    assertStatus(head, 200);
    assert.equal(head.text, "");
  }
  assert.equal((await bob.call("HEAD", "/v1/inbox", { query: "limit=x" })).status, 400);
  assert.deepEqual(await listRows(relay.deps.kv, { marks: true }), before);
  assert.deepEqual((await alice.outbox()).map(({ delivered_at }) => delivered_at), [null, null]);
  const head = await bob.call("HEAD", "/v1/inbox");
  assert.equal(head.headers.get("content-length"), null);
  assert.equal(head.headers.get("cache-control"), "no-store");
  assertStatus(await bob.poll(), 200);
  assert.equal((await bob.call("HEAD", "/v1/inbox")).status, 200);
});

Deno.test("unread=true gives what was never delivered, unread=false everything", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids = await sendMany(alice, "bob_1", 6);
  assert.deepEqual(idsOf(await bob.inbox(`since_id=${ids[1]}&limit=2`)), [ids[2], ids[3]]);
  assert.deepEqual(idsOf(await bob.inbox("unread=true&limit=3")), [ids[0], ids[1], ids[4]]);
  assert.deepEqual(idsOf(await bob.inbox(`unread=true&since_id=${ids[5]}`)), []);
  assert.deepEqual(idsOf(await bob.inbox(`unread=true&since_id=${ids[4]}`)), [ids[5]]);
  relay.clock.advance(2000);
  const nothing = await bob.poll("unread=true&since_id=3");
  assert.deepEqual(nothing.json, { messages: [], last_id: 3 });
  assert.deepEqual(idsOf(await bob.inbox("unread=false")), ids);
  const next = await sendMany(alice, "bob_1", 1);
  assert.deepEqual(idsOf(await bob.inbox("unread=true")), next);
  assert.ok((await alice.outbox()).every(({ delivered_at }) => delivered_at !== null));
});

Deno.test("what was delivered stays so over a restart, out of order too", async () => {
  using kv = await openMemoryKv();
  let bob: TestAgent;
  let ids: number[];
  {
    await using relay = await startTestRelay({ deps: { kv } });
    const agents = await registerAgents(relay, "alice", "bob_1");
    bob = agents[1];
    ids = await sendMany(agents[0], "bob_1", 4);
    assert.deepEqual(idsOf(await bob.inbox(`since_id=${ids[0]}&limit=1`)), [ids[1]]);
  }
  {
    await using relay = await startTestRelay({ deps: { kv } });
    const again = bob.at(relay);
    assert.deepEqual(idsOf(await again.inbox("unread=true")), [ids[0], ids[2], ids[3]]);
    assert.deepEqual(idsOf(await again.inbox()), ids);
  }
});

Deno.test("GET /v1/inbox clamps wait, refuses what is no integer, and unread is true or false", async () => {
  await using relay = await startTestRelay({ limits: { inboxPollIntervalMs: 0 } });
  const agent = await registerAgent(relay, "poller");
  await agent.sent({ to: "poller", body: 1 });
  for (
    const query of [
      "wait=-5",
      "wait=99999999999999999999",
      "wait=0",
      "unread=false",
      "unread=true&wait=3",
    ]
  ) {
    assertStatus(await agent.poll(query), 200);
    if (query.startsWith("unread=false")) {
      await agent.sent({ to: "poller", body: 2 });
    }
  }
  for (
    const query of [
      "wait=",
      "wait=1.5",
      "wait=a",
      "wait=+1",
      "wait=1&wait=1",
      "unread=",
      "unread=TRUE",
      "unread=1",
      "unread=true&unread=true",
      "since_id=",
      "since_id=123456789012345678901",
      "limit=x",
      "limit=%31%20",
    ]
  ) {
    const name = query.split("=")[0]!;
    assertRefused(await agent.poll(query), "invalid_json", new RegExp(name));
  }
  assertStatus(await agent.poll("since_id=-1&limit=0&unknown=x&unknown=y"), 200);
  // Order: credentials, then the query, then the limit.
  assertRefused(await ask(`${relay.url}/v1/inbox?wait=a`), "unknown_token");
  assertRefused(await ask(`${relay.url}/v1/outbox?limit=a`), "unknown_token");
});
