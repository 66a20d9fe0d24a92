/** POST /v1/register: what is accepted, how it is normalised, what is answered. */
import assert from "node:assert/strict";
import { keyPairFromHex, wordName } from "../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { register, registerAgent, TestAgent } from "../support/test_agent.ts";

const MANY = { limits: { registrationsPerIpPerHour: 1000 } };
/** Two seeds whose keys have the same three words. */
const COLLIDING = [
  "7d15d54570514d05cc705d4d25c5c6e784c1b50ea2949469a8c3b855b8d4f4b7",
  "987f1ab4cfbd55140137a87d65ffe757d6cc3508a3ff036849dcb36289ec0f20",
] as const;

Deno.test("register answers 201 with exactly address, handle, word_name and owner_token", async () => {
  await using relay = await startTestRelay();
  const agent = new TestAgent(relay);
  const answer = await agent.askToRegister({ handle: "alice" });
  assertStatus(answer, 201);
  assert.deepEqual(Object.keys(answer.json).sort(), [
    "address",
    "handle",
    "owner_token",
    "word_name",
  ]);
  assert.equal(answer.json.address, agent.address);
  assert.equal(answer.json.handle, "alice");
  assert.equal(answer.json.word_name, wordName(agent.keys.publicKey));
  assert.match(answer.json.owner_token, /^rt_owner_[A-Za-z0-9_-]{43}$/);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
});

Deno.test("register gives profile fields their defaults and null the same meaning as absence", async () => {
  await using relay = await startTestRelay(MANY);
  const bare = await registerAgent(relay, "bare");
  const nulls = await registerAgent(relay, "nulls", {
    profile: { display_name: null, description: null, tags: null },
  });
  for (const agent of [bare, nulls]) {
    const { json } = await agent.call("GET", "/v1/whoami");
    assert.deepEqual([json.display_name, json.description, json.tags], ["", "", []]);
  }
});

Deno.test("register drops one @, lowercases ASCII and trims nothing in a handle", async () => {
  await using relay = await startTestRelay(MANY);
  for (
    const [given, handle] of [
      ["@Alice_1", "alice_1"],
      ["ABC", "abc"],
      ["___", "___"],
      ["007", "007"],
      ["a".repeat(32), "a".repeat(32)],
    ] as const
  ) {
    const answer = await new TestAgent(relay).askToRegister({ handle: given });
    assertStatus(answer, 201);
    assert.equal(answer.json.handle, handle);
  }
  for (
    const given of [
      "",
      "@",
      "ab",
      "@ab",
      "@@abc",
      "a".repeat(33),
      "a-b",
      "a.b",
      " abc",
      "abc ",
      "abc\n",
      "ab c",
      "äbc",
      "\u212Aelvin", // KELVIN SIGN: lowercases to k beyond ASCII
      "abc\u0000",
      "ａｂｃ",
    ]
  ) {
    const answer = await new TestAgent(relay).askToRegister({ handle: given });
    assertRefused(answer, "invalid_handle", /3 to 32/);
  }
});

Deno.test("register keeps every reserved handle, in any spelling, and not their neighbours", async () => {
  await using relay = await startTestRelay(MANY);
  const reserved =
    "admin administrator root relay system support security postmaster hostmaster webmaster abuse " +
    "api mcp mail www help info null undefined anonymous everyone all moderator staff official " +
    "operator noreply no_reply mailer_daemon unsubscribe docs status billing register whoami agents " +
    "inbox outbox messages feed health stats leaderboard network limits";
  const agent = new TestAgent(relay);
  for (const handle of reserved.split(" ")) {
    const answer = await agent.askToRegister({ handle });
    assertRefused(answer, "reserved_handle", /reserved/);
  }
  assertRefused(await agent.askToRegister({ handle: "@Admin" }), "reserved_handle");
  for (const handle of ["admins", "admin_", "a_admin", "qa_bot", "me_"]) {
    assertStatus(await new TestAgent(relay).askToRegister({ handle }), 201);
  }
});

Deno.test("register trims profile texts and counts code points", async () => {
  await using relay = await startTestRelay(MANY);
  const emoji = "\u{1F600}";
  const agent = await registerAgent(relay, "full", {
    profile: {
      display_name: `\u00a0 ${emoji.repeat(100)}\t\n`,
      description: ` ${"é".repeat(498)}\n. `,
      tags: [" AI ", "ai", "b-1", "B-1", "c".repeat(32)],
    },
  });
  const { json } = await agent.call("GET", "/v1/whoami");
  assert.equal(json.display_name, emoji.repeat(100));
  assert.equal(json.description, `${"é".repeat(498)}\n.`);
  assert.deepEqual(json.tags, ["ai", "b-1", "c".repeat(32)]);
});

Deno.test("register does not normalise text beyond trimming", async () => {
  await using relay = await startTestRelay();
  const decomposed = "e\u0301";
  const agent = await registerAgent(relay, "raw_text", { profile: { display_name: decomposed } });
  assert.equal((await agent.call("GET", "/v1/whoami")).json.display_name, decomposed);
});

Deno.test("register takes ten tags after duplicates are dropped, not eleven", async () => {
  await using relay = await startTestRelay(MANY);
  const ten = Array.from({ length: 10 }, (_, i) => `tag-${i}`);
  const agent = await registerAgent(relay, "tagged", {
    profile: { tags: [...ten, "TAG-0", " tag-9 "] },
  });
  assert.deepEqual((await agent.call("GET", "/v1/whoami")).json.tags, ten);
  const answer = await new TestAgent(relay).askToRegister({ handle: "more", tags: [...ten, "x"] });
  assertRefused(answer, "invalid_json", /tags/);
});

Deno.test("register ignores unknown fields and never consults Content-Type", async () => {
  await using relay = await startTestRelay();
  const agent = new TestAgent(relay);
  const body = `{"handle":"typed","pubkey":"${agent.address}","__proto__":{"tags":1},"x":[1]}`;
  assertStatus(await register(relay, body, { "Content-Type": "image/png" }), 201);
});

Deno.test("register appends an adjective where another key holds the base word name", async () => {
  await using relay = await startTestRelay();
  const [first, second] = [
    await registerAgent(relay, "first", { keys: keyPairFromHex(COLLIDING[0]) }),
    await registerAgent(relay, "second", { keys: keyPairFromHex(COLLIDING[1]) }),
  ];
  assert.equal(first.wordName, wordName(second.keys.publicKey));
  assert.equal(second.wordName, wordName(second.keys.publicKey, 2));
  assert.ok(second.wordName.startsWith(`${first.wordName}-`));
  for (const agent of [first, second]) {
    const found = await first.call("GET", `/v1/agents/${agent.wordName}`);
    assert.equal(found.json.handle, agent.handle);
  }
});

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`register at once gives a handle to one agent, and each its own word name, on ${store}`, async () => {
    await using relay = await startTestRelay({ ...MANY, config: { sharedStore } });
    const alike = COLLIDING.map((hex) => new TestAgent(relay, keyPairFromHex(hex)));
    const others = Array.from({ length: 6 }, () => new TestAgent(relay));
    const [wordy, same] = await Promise.all([
      Promise.all(alike.map((agent, i) => agent.askToRegister({ handle: `alike_${i}` }))),
      Promise.all(others.map((agent) => agent.askToRegister({ handle: "one_handle" }))),
    ]);
    const names = wordy.map((answer) => (assertStatus(answer, 201), answer.json.word_name));
    const { publicKey } = alike[0]!.keys;
    assert.ok(names.includes(wordName(publicKey)), `${names}`);
    assert.equal(new Set(names).size, 2);
    assert.equal(same.filter(({ status }) => status === 201).length, 1);
    for (const answer of same) if (answer.status !== 201) assertRefused(answer, "handle_taken");
    const ids = await Promise.all(
      ["alike_0", "alike_1", "one_handle"].map(async (handle) =>
        (await relay.deps.kv.get<{ id: number }>(["handle", handle])).value!.id
      ),
    );
    assert.deepEqual(ids.sort(), [1, 2, 3]);
  });
}

Deno.test("register goes on through the digest's digest where many longer names are taken", async () => {
  using kv = await openMemoryKv();
  const agent = new TestAgent({ url: "", clock: { seconds: () => 0 } as never });
  for (let adjectives = 1; adjectives <= 20; adjectives++) {
    await kv.set(["word", wordName(agent.keys.publicKey, adjectives)], { v: 1, id: 1 });
  }
  {
    await using relay = await startTestRelay({ deps: { kv } });
    const answer = await agent.at(relay).askToRegister({ handle: "crowded" });
    assertStatus(answer, 201);
    assert.equal(answer.json.word_name, wordName(agent.keys.publicKey, 21));
    const found = await agent.at(relay).call("GET", `/v1/agents/${answer.json.word_name}`);
    assert.equal(found.json.address, agent.address);
  }
});

Deno.test("register numbers agents in commit order and stores no token, only its hash", async () => {
  await using relay = await startTestRelay();
  const agents = [await registerAgent(relay, "one_"), await registerAgent(relay, "two_")];
  assertRefused(await agents[0]!.askToRegister({ handle: "one_" }), "handle_taken");
  agents.push(await registerAgent(relay, "three"));
  for (const [index, { handle }] of agents.entries()) {
    const row = await relay.deps.kv.get<{ id: number }>(["handle", handle]);
    assert.equal(row.value?.id, index + 1);
  }
  const rows = (await listRows(relay.deps.kv, { marks: true })).join("\n");
  for (const { ownerToken, keys } of agents) {
    assert.ok(!rows.includes(ownerToken.slice("rt_owner_".length)));
    assert.ok(!rows.includes(keys.privateKeyHex));
  }
  assert.deepEqual(relay.logged, []);
});
