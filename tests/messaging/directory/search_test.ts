/** GET /v1/agents with q or tags: who matches, in which order, how often. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { spawnRelay, startTestRelay } from "../../support/relay.ts";
import { listRows } from "../../support/store_rows.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";

const options = { limits: { registrationsPerIpPerHour: 1_000, searchesPerIpPerMinute: 10_000 } };

async function search(relay: { url: string }, query: string): Promise<string[]> {
  const answer = await ask(`${relay.url}/v1/agents?${query}`);
  assertStatus(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ["agents"]);
  return answer.json.agents.map((agent: { handle: string }) => agent.handle);
}
const q = (text: string) => `q=${encodeURIComponent(text)}`;

Deno.test("q is a substring of handle, word name, display name or description, in any case", async () => {
  await using relay = await startTestRelay(options);
  const fox = await registerAgent(relay, "red_fox", {
    profile: { display_name: "Reynard ÉTÉ", description: "Sells\nhorses & straße 🦊", tags: ["x"] },
  });
  await registerAgent(relay, "other");
  for (
    const text of [
      "red_fox",
      "@RED_fox",
      "d_f",
      "_",
      fox.wordName,
      fox.wordName.slice(2, -2).toUpperCase(),
      "reynard",
      "YNARD é",
      "été",
      "sells\nhorses",
      "s & s",
      "🦊",
      "STRASSE".replace("SS", "ß"),
      "  horses  ",
    ]
  ) {
    assert.deepEqual(await search(relay, q(text)), ["red_fox"], text);
  }
  for (
    const text of ["nothing", "foxreynard", "horsessells", fox.address, "x y", "red fox", "\u0000"]
  ) {
    assert.deepEqual(await search(relay, q(text)), [], text);
  }
});

Deno.test("tags must all be held, and combine with q", async () => {
  await using relay = await startTestRelay(options);
  await registerAgent(relay, "one", { profile: { tags: ["a", "b", "c-1"], description: "cats" } });
  await registerAgent(relay, "two", { profile: { tags: ["a", "b"], description: "dogs" } });
  await registerAgent(relay, "three", { profile: { tags: ["a"], description: "cats" } });
  for (
    const [query, expected] of [
      ["tags=a", ["three", "two", "one"]],
      ["tags=A,%20b%20,,", ["two", "one"]],
      ["tags=b,c-1", ["one"]],
      ["tags=c", []],
      ["tags=a,nope", []],
      ["tags=a&q=cats", ["three", "one"]],
      ["tags=b&q=CATS", ["one"]],
      ["tags=&q=dogs", ["two"]],
      ["tags=a,a,a", ["three", "two", "one"]],
    ] as const
  ) {
    assert.deepEqual(await search(relay, query), expected, query);
  }
  const eleven = Array.from({ length: 11 }, (_, i) => `t${i}`).join();
  for (
    const query of [
      "tags=a_b",
      "tags=a%20b",
      `tags=${"x".repeat(33)}`,
      `tags=${eleven}`,
      "tags=a&tags=b",
    ]
  ) {
    assertRefused(await ask(`${relay.url}/v1/agents?${query}`), "invalid_json", /tags/);
  }
  assertRefused(await ask(`${relay.url}/v1/agents?${q("x".repeat(201))}`), "invalid_json", /q/);
  assert.deepEqual(await search(relay, q("🦊".repeat(200))), []);
});

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`matches come in order: equal handle, last seen, never seen, descending id, on ${store}`, async () => {
    await using relay = await startTestRelay({ ...options, config: { sharedStore } });
    const agents: TestAgent[] = [];
    for (const handle of ["bot", "bot_a", "bot_b", "bot_c", "bot_d", "bot_e"]) {
      agents.push(await registerAgent(relay, handle));
    }
    const [bot, a, b, c, d] = agents;
    const seen = async (agent: TestAgent) =>
      assertStatus(await agent.call("GET", "/v1/whoami"), 200);
    assert.deepEqual(await search(relay, "q=bot"), [
      "bot",
      "bot_e",
      "bot_d",
      "bot_c",
      "bot_b",
      "bot_a",
    ]);
    assert.deepEqual(await search(relay, "q=bo"), [
      "bot_e",
      "bot_d",
      "bot_c",
      "bot_b",
      "bot_a",
      "bot",
    ]);
    await seen(c!);
    await seen(a!); // in the same millisecond as the one before: the greater id first
    relay.clock.advance(1);
    await seen(b!);
    relay.clock.advance(5);
    await seen(bot!);
    assert.deepEqual(await search(relay, "q=bo"), [
      "bot",
      "bot_b",
      "bot_c",
      "bot_a",
      "bot_e",
      "bot_d",
    ]);
    assert.deepEqual(await search(relay, "q=BOT_D"), ["bot_d"]);
    await seen(d!);
    assert.deepEqual(await search(relay, "q=bo"), [
      "bot_d",
      "bot",
      "bot_b",
      "bot_c",
      "bot_a",
      "bot_e",
    ]);
    assert.deepEqual(await search(relay, "q=@bot"), [
      "bot",
      "bot_d",
      "bot_b",
      "bot_c",
      "bot_a",
      "bot_e",
    ]);
    // What is refused is no sign of life; a request refused by a limit is.
    await b!.call("GET", "/v1/whoami", { timestamp: 5 });
    assert.equal((await search(relay, "q=bo"))[0], "bot_d");
    relay.clock.advance(5);
    await b!.poll();
    await b!.poll();
    assert.equal((await search(relay, "q=bo"))[0], "bot_b");
    for (const [offset, limit] of [[0, 2], [2, 2], [4, 100], [6, 5], [10_000, 5]] as const) {
      const whole = await search(relay, "q=bot&limit=100");
      assert.deepEqual(
        await search(relay, `q=bot&offset=${offset}&limit=${limit}`),
        whole.slice(offset, offset + limit),
      );
    }
    assert.deepEqual(await search(relay, "q=bot&offset=99999999999&limit=1"), []);
    // before_id means nothing here; its syntax is checked all the same.
    assert.equal((await search(relay, "q=bot&before_id=2")).length, 6);
    assertRefused(
      await ask(`${relay.url}/v1/agents?q=bot&before_id=x`),
      "invalid_json",
      /before_id/,
    );
  });

  Deno.test(`the order of last seen outlives a restart, on ${store}`, async () => {
    const kv = await openMemoryKv();
    const agents: TestAgent[] = [];
    let clockStartMs: number;
    {
      await using relay = await startTestRelay({
        ...options,
        config: { sharedStore },
        deps: { kv },
      });
      for (const handle of ["bot_a", "bot_b", "bot_c"]) {
        agents.push(await registerAgent(relay, handle));
      }
      for (const agent of [agents[2]!, agents[0]!]) {
        relay.clock.advance(10);
        await agent.call("GET", "/v1/whoami");
      }
      clockStartMs = relay.clock.now();
    }
    {
      await using relay = await startTestRelay({
        ...options,
        config: { sharedStore },
        deps: { kv },
        clockStartMs,
      });
      assert.deepEqual(await search(relay, "q=bot"), ["bot_a", "bot_c", "bot_b"]);
      relay.clock.advance(10);
      await agents[1]!.at(relay).call("GET", "/v1/whoami");
      assert.deepEqual(await search(relay, "q=bot"), ["bot_b", "bot_a", "bot_c"]);
    }
    kv.close();
  });
}

Deno.test("search takes 20 unless asked, 1 to 100", async () => {
  await using relay = await startTestRelay(options);
  for (let i = 0; i < 105; i++) await registerAgent(relay, `agent_${i}`);
  assert.equal((await search(relay, "q=agent")).length, 20);
  for (const [limit, length] of [["0", 1], ["-1", 1], ["100", 100], ["101", 100], ["200", 100]]) {
    assert.equal((await search(relay, `q=agent&limit=${limit}`)).length, length);
  }
  const pages: string[] = [];
  for (let offset = 0; offset < 120; offset += 20) {
    pages.push(...await search(relay, `q=agent&offset=${offset}`));
  }
  assert.equal(new Set(pages).size, 105);
});

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";
  const limited = { config: { sharedStore }, limits: { registrationsPerIpPerHour: 100 } };

  Deno.test(`an address has 30 answered searches a minute, browsing has no limit, on ${store}`, async () => {
    await using relay = await startTestRelay(limited);
    await registerAgent(relay, "alice");
    const ask_ = (query: string, init?: RequestInit) =>
      ask(`${relay.url}/v1/agents?${query}`, init);
    for (let i = 0; i < 30; i++) {
      relay.clock.advance(1_000);
      assert.equal((await ask_("q=alice", { method: "HEAD" })).status, 200);
      assertStatus(await ask_(i % 2 === 0 ? "q=alice" : "tags=none"), 200);
      // None of these is an answered search.
      assertRefused(await ask_("q=alice&limit=x"), "invalid_json");
      assertRefused(await ask_("tags=a_b"), "invalid_json");
      assertStatus(await ask_("limit=1"), 200);
    }
    const refused = await ask_("q=alice");
    assertRefused(refused, "rate_limited", /30/);
    assert.equal(refused.json.retry_after_ms, 31_000);
    assert.equal(refused.headers.get("retry-after"), "31");
    assert.equal((await ask_("q=alice", { method: "HEAD" })).status, 429);
    assertRefused(await ask_("q=alice&before_id=x"), "invalid_json");
    assertStatus(await ask_("limit=2"), 200);
    relay.clock.advance(30_999);
    assert.equal((await ask_("q=alice")).json.retry_after_ms, 1);
    relay.clock.advance(1);
    assertStatus(await ask_("q=alice"), 200);
    assert.equal((await ask_("q=alice")).json.retry_after_ms, 1_000);
  });

  Deno.test(`searches at one time pass the limit only as often as it says, on ${store}`, async () => {
    await using relay = await startTestRelay(limited);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask(`${relay.url}/v1/agents?q=x`)),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 30);
    for (const answer of answers) {
      if (answer.status !== 200) assertRefused(answer, "rate_limited");
    }
  });

  Deno.test(`searches count by client address, on ${store}`, async () => {
    await using relay = await startTestRelay({
      config: { sharedStore, trustedProxyHops: 1 },
      limits: { searchesPerIpPerMinute: 2 },
    });
    const from = (address: string) =>
      ask(`${relay.url}/v1/agents?q=x`, { headers: { "X-Forwarded-For": address } });
    for (const address of ["203.0.113.1", "203.0.113.2", "2001:db8:1:2::1"]) {
      for (const status of [200, 200, 429]) assert.equal((await from(address)).status, status);
    }
    assert.equal((await from("2001:db8:1:2::99")).status, 429, "the same /64");
    assert.equal((await from("::ffff:203.0.113.1")).status, 429);
    assertStatus(await from("2001:db8:1:3::1"), 200);
    const rows = (await listRows(relay.deps.kv, { marks: true })).join("\n");
    assert.ok(!/203\.0\.113|2001:db8/.test(rows), "addresses are stored as keyed hashes only");
  });
}

Deno.test("the search limit holds across processes on a shared store", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-search-" });
  try {
    const env = { RELAY_DATA_DIR: dataDir, RELAY_SHARED_STORE: "true" };
    await using one = await spawnRelay({ env });
    await using two = await spawnRelay({ env });
    const relays = [one, two];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => ask(`${relays[i % 2]!.url}/v1/agents?q=x`)),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 30);
    for (const relay of relays) {
      assertRefused(await ask(`${relay.url}/v1/agents?q=x`), "rate_limited");
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
