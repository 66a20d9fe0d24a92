/** GET /v1/agents without q and tags: newest registrations first. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { ADMIN_TOKEN, setBanned } from "../../support/figures.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent, registerAgents, type TestAgent } from "../../support/test_agent.ts";

const options = {
  config: { adminToken: ADMIN_TOKEN },
  limits: { registrationsPerIpPerHour: 1_000 },
};

async function browse(relay: { url: string }, query = ""): Promise<{ id: number }[]> {
  const answer = await ask(`${relay.url}/v1/agents${query === "" ? "" : `?${query}`}`);
  assertStatus(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ["agents"]);
  return answer.json.agents;
}
const ids = async (relay: { url: string }, query = "") =>
  (await browse(relay, query)).map(({ id }) => id);

async function registerMany(relay: Parameters<typeof registerAgent>[0], count: number) {
  const agents: TestAgent[] = [];
  for (let i = 1; i <= count; i++) agents.push(await registerAgent(relay, `agent_${i}`));
  return agents;
}

const down = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, i) => from - i);

Deno.test("the directory of an empty relay is an empty list", async () => {
  await using relay = await startTestRelay(options);
  for (const query of ["", "limit=5", "before_id=5", "q=x", "tags=x", "q=a&offset=10"]) {
    assert.equal((await ask(`${relay.url}/v1/agents?${query}`)).text, '{"agents":[]}');
  }
});

Deno.test("browse lists exactly the contract's fields, without last_seen_at", async () => {
  await using relay = await startTestRelay(options);
  const alice = await registerAgent(relay, "alice", {
    profile: { display_name: "Alice", description: 'says "hi"\n🦊', tags: ["b", "a"] },
  });
  assert.deepEqual(await browse(relay), [{
    id: 1,
    handle: "alice",
    word_name: alice.wordName,
    address: alice.address,
    display_name: "Alice",
    description: 'says "hi"\n🦊',
    tags: ["b", "a"],
    created_at: new Date(relay.clock.now()).toISOString(),
  }]);
});

Deno.test("browse pages by before_id, 50 unless asked, 1 to 200", async () => {
  await using relay = await startTestRelay(options);
  await registerMany(relay, 210);
  assert.deepEqual(await ids(relay), down(210, 161));
  assert.deepEqual(await ids(relay, "limit=3&before_id=161"), down(160, 158));
  assert.deepEqual(await ids(relay, "before_id=3"), [2, 1]);
  assert.deepEqual(await ids(relay, "before_id=1"), []);
  assert.deepEqual(await ids(relay, "before_id=0"), []);
  assert.deepEqual(await ids(relay, "before_id=-7"), []);
  assert.deepEqual(await ids(relay, "before_id=99999999999999999999&limit=1"), [210]);
  for (
    const [limit, length] of [["0", 1], ["-3", 1], ["200", 200], ["201", 200], ["999999", 200]]
  ) {
    assert.equal((await ids(relay, `limit=${limit}`)).length, length);
  }
  // An offset means nothing here; its syntax is checked all the same.
  assert.deepEqual(await ids(relay, "offset=3&limit=2"), [210, 209]);
  const blank = ["q=", "tags=", "tags=,%20,", "q=%20&tags=", "q=%20&offset=3", "q=@", "q=%20@%20"];
  for (const query of blank) {
    assert.deepEqual(await ids(relay, `${query}&limit=2`), [210, 209], query);
  }
  const malformed = [
    "limit=",
    "limit=x",
    "before_id=",
    "before_id=1.0",
    "offset=x",
    "offset=",
    "limit=1&limit=1",
    "q=a&q=b",
    "q=%ff",
  ];
  for (const query of malformed) {
    const name = /^[a-z_]+/.exec(query)![0];
    assertRefused(await ask(`${relay.url}/v1/agents?${query}`), "invalid_json", new RegExp(name));
  }
  assert.deepEqual(await ids(relay, "surprise=1&limit=1"), [210]);
});

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";
  Deno.test(`pages with banned agents among them are full, on ${store}`, async () => {
    await using relay = await startTestRelay({
      ...options,
      config: { ...options.config, sharedStore },
    });
    const agents = await registerMany(relay, 30);
    const banned = agents.filter((_, i) => i % 3 !== 0 || i > 24);
    for (const agent of banned) await setBanned(relay, agent, true);
    const left = down(30, 1).filter((id) => !banned.includes(agents[id - 1]!));
    assert.deepEqual(await ids(relay, "limit=5"), left.slice(0, 5));
    assert.deepEqual(await ids(relay, `limit=3&before_id=${left[4]}`), left.slice(5, 8));
    for (const order of ["", "q=agent&"]) {
      assert.deepEqual(await ids(relay, `${order}limit=100`), left, order);
    }
    for (const agent of banned) await setBanned(relay, agent, false);
    assert.deepEqual(await ids(relay, "limit=100"), down(30, 1));
    assert.deepEqual(await ids(relay, "q=agent&limit=100"), down(30, 1));
  });
}

Deno.test("test handles stand in the directory", async () => {
  await using relay = await startTestRelay(options);
  await registerAgents(relay, "qa_bot", "sim_bot");
  assert.deepEqual(await ids(relay), [2, 1]);
  assert.deepEqual(await ids(relay, "q=qa_"), [1]);
});
