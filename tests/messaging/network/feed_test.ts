/** GET /v1/feed: fields, order, pages, limits. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { ADMIN_TOKEN, readFeed, readWholeFeed, setBanned } from "../../support/figures.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents, type TestAgent } from "../../support/test_agent.ts";

const options = {
  config: { adminToken: ADMIN_TOKEN },
  limits: { registrationsPerIpPerHour: 100, sendsPerAgentPerMinute: 1_000 },
};

async function sendMany(agents: readonly TestAgent[], count: number): Promise<number[]> {
  return await Promise.all(Array.from({ length: count }, (_, i) => {
    const to = agents[(i * 7 + 1) % agents.length]!.handle;
    return agents[i % agents.length]!.sent({ to, body: i });
  }));
}

Deno.test("feed events have the contract's four fields and nothing of the message", async () => {
  await using relay = await startTestRelay(options);
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  await alice.sent({ to: "bob_1", body: { subject: "hush", text: "secret" }, in_reply_to: 5 });
  const answer = await ask(`${relay.url}/v1/feed`);
  assertStatus(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ["events"]);
  assert.deepEqual(Object.keys(answer.json.events[0]).sort(), [
    "created_at",
    "from_handle",
    "id",
    "to_handle",
  ]);
  for (const secret of ["hush", "secret", alice.address, "signature", "relay:v1"]) {
    assert.ok(!answer.text.includes(secret), secret);
  }
});

Deno.test("the feed has every counted send once, newest first, whatever the page size", async () => {
  await using relay = await startTestRelay(options);
  const agents = await registerAgents(relay, "alice", "bob_1", "carol", "dave_1");
  const ids: number[] = [];
  for (let burst = 0; burst < 4; burst++) {
    ids.push(...await sendMany(agents, 60));
    relay.clock.advance(burst * 40_000);
  }
  ids.sort((a, b) => b - a);
  for (const limit of [1, 7, 50, 200]) {
    const events = await readWholeFeed(relay, limit);
    assert.deepEqual(events.map(({ id }) => id), ids, `limit ${limit}`);
  }
  assert.deepEqual((await readFeed(relay)).map(({ id }) => id), ids.slice(0, 50));
});

Deno.test("before_id is exclusive and need not be an event's id", async () => {
  await using relay = await startTestRelay(options);
  const agents = await registerAgents(relay, "alice", "bob_1", "carol");
  const ids = (await sendMany(agents, 30)).sort((a, b) => b - a);
  const below = async (id: number) => (await readFeed(relay, `before_id=${id}`)).map((e) => e.id);
  assert.deepEqual(await below(ids[4]!), ids.slice(5));
  assert.deepEqual(await below(ids[4]! + 1), ids.slice(4));
  assert.deepEqual(await below(ids.at(-1)!), []);
  assert.deepEqual(await below(1), []);
  assert.deepEqual(await below(2 ** 53 - 1), ids);
});

Deno.test("pages with hidden events in them are full", async () => {
  await using relay = await startTestRelay(options);
  const agents = await registerAgents(relay, "alice", "bob_1", "carol", "dave_1", "erin_1");
  const ids = await sendMany(agents, 200);
  const all = await readWholeFeed(relay, 200);
  assert.equal(all.length, ids.length);
  await setBanned(relay, agents[1], true);
  await setBanned(relay, agents[3], true);
  const left = all.filter(({ from_handle, to_handle }) =>
    ![from_handle, to_handle].some((handle) => ["bob_1", "dave_1"].includes(handle))
  );
  assert.ok(left.length > 20 && left.length < 180);
  assert.deepEqual(await readWholeFeed(relay, 10), left);
  assert.deepEqual(await readFeed(relay, "limit=20"), left.slice(0, 20));
});

Deno.test("the feed clamps its limit and refuses malformed numbers", async () => {
  await using relay = await startTestRelay(options);
  const agents = await registerAgents(relay, "alice", "bob_1", "carol", "dave_1");
  await sendMany(agents, 210);
  for (
    const [limit, length] of [["0", 1], ["-5", 1], ["201", 200], ["99999999999999999999", 200]]
  ) {
    assert.equal((await readFeed(relay, `limit=${limit}`)).length, length);
  }
  assert.equal((await readFeed(relay, "before_id=0")).length, 0);
  assert.equal((await readFeed(relay, "before_id=99999999999999999999")).length, 50);
  for (
    const query of [
      "limit=",
      "limit=x",
      "limit=1.5",
      "limit=1&limit=1",
      "before_id=",
      "before_id=x",
      "before_id=1&before_id=2",
    ]
  ) {
    const name = /^[a-z_]+/.exec(query)![0];
    assertRefused(await ask(`${relay.url}/v1/feed?${query}`), "invalid_json", new RegExp(name));
  }
});

Deno.test("HEAD of the figures answers as GET without a body", async () => {
  await using relay = await startTestRelay(options);
  for (const path of ["/v1/feed", "/v1/stats", "/v1/leaderboard"]) {
    const got = await ask(`${relay.url}${path}`);
    const head = await ask(`${relay.url}${path}`, { method: "HEAD" });
    assertStatus(head, 200);
    assert.equal(head.text, "");
    assert.equal(head.headers.get("content-length"), String(got.text.length));
    assert.equal(head.headers.get("access-control-allow-origin"), "*");
  }
});

Deno.test("a closed store answers 500 in the contract's shape", async () => {
  const kv = await openMemoryKv();
  await using relay = await startTestRelay({ ...options, deps: { kv } });
  const broken = kv.getMany;
  kv.getMany = () => Promise.reject(new Error("the disk is gone"));
  assertRefused(await ask(`${relay.url}/v1/stats`), "internal");
  kv.getMany = broken;
  assertStatus(await ask(`${relay.url}/v1/stats`), 200);
  await relay.stop();
  kv.close();
});
