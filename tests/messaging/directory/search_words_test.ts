/** Which words, tags and numbers GET /v1/agents takes, and which agents they find, with the tools. */
import assert from "node:assert/strict";
import { generateKeyPair, type KeyPair, wordName } from "../../../toolkit/mod.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, TestAgent } from "../../support/test_agent.ts";
import { callTool } from "../../support/tool_client.ts";

const OPTIONS = {
  limits: { registrationsPerIpPerHour: 1000, searchesPerIpPerMinute: 100_000 },
  config: { adminToken: "t".repeat(32) },
};

/** Handles of a listing. */
async function handles(relay: TestRelay, query = ""): Promise<string[]> {
  relay.clock.advance(2000);
  const answer = await ask(`${relay.url}/v1/agents${query === "" ? "" : `?${query}`}`);
  assertStatus(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ["agents"]);
  return answer.json.agents.map(({ handle }: { handle: string }) => handle);
}

async function admin(relay: TestRelay, verb: "ban" | "unban", agent: TestAgent): Promise<void> {
  assertStatus(
    await ask(`${relay.url}/v1/admin/${verb}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${"t".repeat(32)}` },
      body: JSON.stringify({ pubkey: agent.address }),
    }),
    200,
  );
}

/** Keys whose word name does not hold a text by chance. */
function keysWithoutInName(text: string): KeyPair {
  for (;;) {
    const keys = generateKeyPair();
    if (!wordName(keys.publicKey).includes(text)) return keys;
  }
}

Deno.test("search finds substrings of the four fields in any case, and an equal handle comes first", async () => {
  await using relay = await startTestRelay(OPTIONS);
  const bob = await registerAgent(relay, "bob", { profile: { display_name: "Robert" } });
  await registerAgent(relay, "bobby", { profile: { description: "Likes\n100% Pure JSON_x" } });
  await registerAgent(relay, "alice", { profile: { display_name: "BOB's friend Ünïcode 😀 x" } });
  await registerAgent(relay, "zed", {
    profile: { tags: ["bob"] },
    keys: keysWithoutInName("ob"),
  });
  // The two others were seen after bob, who was never seen.
  assert.deepEqual(await handles(relay, "q=bob"), ["bob", "alice", "bobby"]);
  for (const q of ["BOB", "@bob", " bob ", "%40Bob", " @bob"]) {
    assert.deepEqual(await handles(relay, `q=${encodeURIComponent(q).replace("%2540", "%40")}`), [
      "bob",
      "alice",
      "bobby",
    ], q);
  }
  assert.deepEqual(await handles(relay, "q=@@bob"), []);
  assert.deepEqual(await handles(relay, "q=ob"), ["alice", "bobby", "bob"]);
  assert.deepEqual(await handles(relay, `q=${bob.wordName.toUpperCase()}`), ["bob"]);
  assert.deepEqual(await handles(relay, `q=${bob.wordName.slice(2, -2)}`), ["bob"]);
  assert.deepEqual(await handles(relay, `q=${bob.address}`), []);
  assert.deepEqual(await handles(relay, "q=100%25"), ["bobby"]);
  assert.deepEqual(await handles(relay, "q=100%25+pure+json"), ["bobby"]);
  assert.deepEqual(await handles(relay, "q=likes%0A100"), ["bobby"]);
  assert.deepEqual(await handles(relay, "q=pure%20likes"), []);
  assert.deepEqual(await handles(relay, `q=${encodeURIComponent("ünÏCODE 😀")}`), ["alice"]);
  assert.deepEqual(await handles(relay, `q=${encodeURIComponent("😀")}`), ["alice"]);
  assert.deepEqual(await handles(relay, "q=%00"), []);
  assert.deepEqual(await handles(relay, "q=.*"), []);
  assert.deepEqual(await handles(relay, "q=robertlikes"), []);
  assert.deepEqual(await handles(relay, "q=json_x"), ["bobby"]);
  assert.deepEqual(await handles(relay, "q=jsonyx"), []);
  // A new profile is found by what it says now.
  await bob.call("PATCH", "/v1/agents/me", { body: { display_name: "Quentin" } });
  assert.deepEqual(await handles(relay, "q=quentin"), ["bob"]);
  assert.deepEqual(await handles(relay, "q=robert"), []);
  await admin(relay, "ban", bob);
  assert.deepEqual(await handles(relay, "q=bob"), ["alice", "bobby"]);
  await admin(relay, "unban", bob);
  assert.deepEqual(await handles(relay, "q=quentin"), ["bob"]);
});

Deno.test("search orders by last_seen_at, nulls last, ids descending in ties; offsets page it without gaps", async () => {
  await using relay = await startTestRelay(OPTIONS);
  const agents: TestAgent[] = [];
  for (let i = 0; i < 9; i++) {
    agents.push(await registerAgent(relay, `seen_${i}`, { profile: { tags: ["a", `t${i % 2}`] } }));
  }
  // 3 and 5 tie, 1 is later, 7 earlier; the others were never seen.
  relay.clock.advance(61_000);
  assertStatus(await agents[7]!.call("GET", "/v1/whoami"), 200);
  relay.clock.advance(61_000);
  assertStatus(await agents[5]!.call("GET", "/v1/whoami"), 200);
  assertStatus(await agents[3]!.call("GET", "/v1/whoami"), 200);
  relay.clock.advance(61_000);
  assertStatus(await agents[1]!.call("GET", "/v1/whoami"), 200);
  // A 401 is no sign of life.
  assertRefused(
    await agents[0]!.call("GET", "/v1/whoami", { timestamp: 5 }),
    "timestamp_out_of_range",
  );
  const order = [1, 5, 3, 7, 8, 6, 4, 2, 0].map((i) => `seen_${i}`);
  assert.deepEqual(await handles(relay, "q=seen"), order);
  assert.deepEqual(await handles(relay, "tags=a"), order);
  assert.deepEqual(await handles(relay, "q=seen_2"), ["seen_2"]);
  for (let offset = 0; offset <= 10; offset++) {
    assert.deepEqual(
      await handles(relay, `q=SEEN_&tags=a&limit=2&offset=${offset}`),
      order.slice(offset, offset + 2),
    );
  }
  assert.deepEqual(await handles(relay, "q=seen&offset=99999999999999999999"), []);
  assert.deepEqual(await handles(relay, "q=seen&offset=-3&limit=1"), order.slice(0, 1));
  assert.deepEqual(await handles(relay, "q=seen&before_id=2"), order);
  assert.deepEqual(await handles(relay, "tags=a,T1"), ["seen_1", "seen_5", "seen_3", "seen_7"]);
  assert.deepEqual(await handles(relay, "tags=%20a%20,,t1,a&q=5"), ["seen_5"]);
  assert.deepEqual(await handles(relay, "tags=t0,t1"), []);
  // list_agents filters newest first.
  const listed = await callTool(relay.url, "list_agents", { query: "SEEN", limit: 3 });
  assert.deepEqual(
    listed.structured.agents.map(({ handle }: { handle: string }) => handle),
    ["seen_8", "seen_7", "seen_6"],
  );
  const found = await callTool(relay.url, "find_agents", {
    query: "@seen",
    tags: ["T1 ", ""],
    limit: 2,
  });
  assert.deepEqual(
    found.structured.agents.map(({ handle }: { handle: string }) => handle),
    ["seen_1", "seen_5"],
  );
});

Deno.test("search gives 20 unless asked, at most 100; browse 50, at most 200", async () => {
  await using relay = await startTestRelay(OPTIONS);
  for (let i = 0; i < 205; i++) await registerAgent(relay, `many_${i}`);
  assert.equal((await handles(relay)).length, 50);
  assert.equal((await handles(relay, "limit=500")).length, 200);
  assert.equal((await handles(relay, "q=many")).length, 20);
  assert.equal((await handles(relay, "q=many&limit=500")).length, 100);
  const tool = async (name: string, args: Record<string, string | number>) =>
    (await callTool(relay.url, name, args)).structured.agents.length;
  assert.equal(await tool("list_agents", {}), 50);
  assert.equal(await tool("list_agents", { limit: 999 }), 200);
  assert.equal(await tool("list_agents", { query: "many" }), 50);
  assert.equal(await tool("list_agents", { query: "many", limit: 999 }), 200);
  assert.equal(await tool("find_agents", {}), 50);
  assert.equal(await tool("find_agents", { query: "many" }), 20);
  assert.equal(await tool("find_agents", { query: "many", limit: 999 }), 100);
  assert.equal(await tool("find_agents", { query: "many", limit: -1 }), 1);
});

Deno.test("GET /v1/agents refuses what it knows and cannot read, used or not, in both modes", async () => {
  await using relay = await startTestRelay(OPTIONS);
  for (
    const query of [
      "limit=x",
      "limit=",
      "before_id=1.0",
      "offset=x",
      "q=a&before_id=x",
      "q=a&q=a",
      "q=&q=",
      "tags=a&tags=b",
      "offset=1&offset=1",
      "tags=a%20b",
      "tags=a_b",
      `tags=${"a".repeat(33)}`,
      "tags=%C3%BC",
      `tags=${Array.from({ length: 11 }, (_, i) => `t${i}`)}`,
      `q=${"x".repeat(201)}`,
      `q=${encodeURIComponent("😀".repeat(201))}`,
    ]
  ) {
    const name = query.split("&").at(-1)!.split("=")[0]!;
    assertRefused(await ask(`${relay.url}/v1/agents?${query}`), "invalid_json", new RegExp(name));
  }
  assert.deepEqual(await handles(relay, `q=${encodeURIComponent("😀".repeat(200))}`), []);
  assert.deepEqual(await handles(relay, `q=%20${"x".repeat(200)}%20`), []);
  assert.deepEqual(await handles(relay, `q=@${"x".repeat(200)}`), []);
  assert.deepEqual(
    await handles(relay, `tags=${Array.from({ length: 10 }, (_, i) => `t${i}`)},,`),
    [],
  );
});
