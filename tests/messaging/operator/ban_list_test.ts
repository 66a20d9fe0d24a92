/** Bans by handle and with a reason, and GET /v1/admin/bans. */
import assert from "node:assert/strict";
import type { ErrorCode } from "../../../server/base/errors.ts";
import { type Answer, ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { setBanned as setBannedInStore } from "../../support/ban_in_store.ts";
import { ADMIN_TOKEN, askAdmin } from "../../support/figures.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";

/** What a request to the operator names. */
type Named = Parameters<typeof askAdmin>[2];

const config = { adminToken: ADMIN_TOKEN };
const AUTHORIZATION = { Authorization: `Bearer ${ADMIN_TOKEN}` };

const askBans = (relay: TestRelay, query = "", init: RequestInit = {}): Promise<Answer> =>
  ask(`${relay.url}/v1/admin/bans${query}`, { headers: AUTHORIZATION, ...init });

async function listed(relay: TestRelay, query = "") {
  const answer = await askBans(relay, query);
  assertStatus(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ["bans"]);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  return answer.json.bans as {
    pubkey: string;
    handle: string;
    reason: string | null;
    banned_at: string | null;
  }[];
}

async function banned(relay: TestRelay, request: Named): Promise<void> {
  const answer = await askAdmin(relay, "ban", request);
  assertStatus(answer, 200);
  assert.deepEqual(answer.json, { ok: true });
}

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`bans are listed newest first with reason and time until they are lifted, on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { ...config, sharedStore } });
    const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
    assert.deepEqual(await listed(relay), []);
    const row = (agent: typeof alice, reason: string | null) => ({
      pubkey: agent.address,
      handle: agent.handle,
      reason,
      banned_at: new Date(relay.clock.now()).toISOString(),
    });
    await banned(relay, { handle: "@BOB_1", reason: "  sends spam 🦊 " });
    const bobs = row(bob, "sends spam 🦊");
    relay.clock.advance(1_000);
    await banned(relay, { pubkey: alice.address, handle: null, reason: null });
    const alices = row(alice, null);
    relay.clock.advance(1_000);
    await banned(relay, { pubkey: null, handle: "carol", reason: " " });
    const carols = row(carol, null);
    assert.deepEqual(await listed(relay), [carols, alices, bobs]);
    assert.deepEqual(await listed(relay, "?limit=1"), [carols]);
    assert.deepEqual(await listed(relay, "?limit=1&offset=1"), [alices]);
    assert.deepEqual(await listed(relay, "?offset=1&limit=999"), [alices, bobs]);
    assert.deepEqual(await listed(relay, "?limit=-5"), [carols]);
    assert.deepEqual(await listed(relay, "?offset=3"), []);
    assertRefused(await bob.send({ to: "alice", body: 1 }), "banned");

    // Repeated, a ban keeps its time and takes another reason, where one is given.
    relay.clock.advance(1_000);
    await banned(relay, { handle: "bob_1" });
    assert.deepEqual((await listed(relay))[2], bobs);
    await banned(relay, { pubkey: bob.address, reason: "sold the handle" });
    assert.deepEqual((await listed(relay))[2], { ...bobs, reason: "sold the handle" });

    assertStatus(await askAdmin(relay, "unban", { handle: "@Alice", reason: 5 }), 200);
    assert.deepEqual((await listed(relay)).map(({ handle }) => handle), ["carol", "bob_1"]);
    assertStatus(await askAdmin(relay, "unban", bob.address), 200);
    assertStatus(await askAdmin(relay, "unban", { handle: "bob_1" }), 200);
    await banned(relay, { handle: "bob_1" });
    // A new ban knows nothing of the former one.
    assert.deepEqual(await listed(relay), [row(bob, null), carols]);
    assertStatus(await alice.send({ to: "alice", body: 1 }), 201);
  });
}

Deno.test("a ban names one agent by one name, and its reason is one short line", async () => {
  await using relay = await startTestRelay({ config });
  const [alice] = await registerAgents(relay, "alice");
  for (const verb of ["ban", "unban"] as const) {
    const refused: [Named, ErrorCode, RegExp][] = [
      [{ pubkey: alice.address, handle: "alice" }, "invalid_json", /both/],
      [{}, "invalid_json", /pubkey or handle/],
      [{ pubkey: null, handle: null }, "invalid_json", /pubkey or handle/],
      [{ handle: 5 }, "invalid_json", /handle/],
      [{ handle: ["alice"] }, "invalid_json", /handle/],
      [{ handle: "" }, "invalid_handle", /handle/],
      [{ handle: "@@alice" }, "invalid_handle", /handle/],
      [{ handle: " alice" }, "invalid_handle", /handle/],
      [{ handle: alice.wordName }, "invalid_handle", /handle/],
      [{ handle: "nobody" }, "not_found", /handle/],
    ];
    for (const [request, code, message] of refused) {
      assertRefused(await askAdmin(relay, verb, request), code, message);
    }
  }
  for (
    const reason of [1, {}, ["a"], "x".repeat(201), "🦊".repeat(201), "a\nb", "a\tb", "a\u0000b"]
      .concat(["a\u202eb", "a\u2028b", "a\u0085b"])
  ) {
    const answer = await askAdmin(relay, "ban", { handle: "alice", reason });
    assertRefused(answer, "invalid_json", /reason/);
  }
  assert.deepEqual(await listed(relay), []);
  const longest = ` ${"🦊".repeat(200)}\n`;
  await banned(relay, { handle: "alice", reason: longest });
  assert.equal((await listed(relay))[0]!.reason, longest.trim());
});

Deno.test("a ban's reason is logged, and shown to the operator only", async () => {
  await using relay = await startTestRelay({ config });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await banned(relay, { handle: "bob_1", reason: "a-reason-of-the-operator" });
  const lines = relay.logged.filter(({ event }) => event === "agent_banned");
  assert.deepEqual(lines.map(({ fields }) => fields), [
    { handle: "bob_1", reason: "a-reason-of-the-operator" },
  ]);
  for (
    const answer of [
      await bob.send({ to: "alice", body: 1 }),
      await alice.send({ to: "bob_1", body: 1 }),
      await bob.call("GET", "/v1/whoami"),
      await alice.call("GET", "/v1/agents/bob_1"),
      await ask(`${relay.url}/v1/agents`),
      await askBans(relay, "", { headers: {} }),
    ]
  ) assert.ok(!answer.text.includes("a-reason"), answer.text);
});

Deno.test("GET /v1/admin/bans is the operator's alone, and checks its query", async () => {
  await using relay = await startTestRelay({ config });
  for (
    const authorization of [
      "",
      `Bearer ${ADMIN_TOKEN}x`,
      `Basic ${ADMIN_TOKEN}`,
      "Bearer rt_owner_",
    ]
  ) {
    const answer = await askBans(relay, "?limit=x", { headers: { Authorization: authorization } });
    assertRefused(answer, "unknown_token");
  }
  for (const query of ["?limit=x", "?offset=", "?limit=1&limit=1", "?offset=1.5"]) {
    assertRefused(await askBans(relay, query), "invalid_json", /limit|offset/);
  }
  assertStatus(await askBans(relay, "?before_id=x"), 200);
  const head = await askBans(relay, "", { method: "HEAD" });
  assert.deepEqual([head.status, head.text], [200, ""]);
  for (const method of ["OPTIONS", "POST", "DELETE"]) {
    const answer = await askBans(relay, "", {
      method,
      headers: { ...AUTHORIZATION, Origin: "https://example.org" },
    });
    assert.equal(answer.status, method === "OPTIONS" ? 204 : 405);
    assert.equal(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
    for (const [name] of answer.headers) assert.ok(!name.startsWith("access-control"), name);
  }
  await using closed = await startTestRelay();
  assertRefused(await askBans(closed), "unknown_token");
});

Deno.test("bans of a store that knows no list of them are listed last, and lifted like the others", async () => {
  using kv = await openMemoryKv();
  const options = { deps: { kv }, config, limits: { registrationsPerIpPerHour: 10 } };
  {
    await using relay = await startTestRelay(options);
    await registerAgents(relay, "alice", "bob_1", "carol", "dave", "erin");
  }
  // As a relay of that time left it: nothing but the mark in both records.
  for (const handle of ["bob_1", "dave", "erin"]) await setBannedInStore(kv, handle, true);
  {
    await using relay = await startTestRelay(options);
    // One more ban, of an agent that was banned before, and a lifted one, before the list is asked for.
    await banned(relay, { handle: "carol", reason: "new" });
    await banned(relay, { handle: "bob_1", reason: "known again" });
    assertStatus(await askAdmin(relay, "unban", { handle: "erin" }), 200);
    const shown = (await listed(relay)).map(({ handle, reason, banned_at }) => [
      handle,
      reason,
      banned_at === null,
    ]);
    assert.deepEqual(shown, [
      ["carol", "new", false],
      ["dave", null, true],
      ["bob_1", "known again", true],
    ]);
    assertStatus(await askAdmin(relay, "unban", { handle: "dave" }), 200);
    assert.deepEqual((await listed(relay)).map(({ handle }) => handle), ["carol", "bob_1"]);
  }
  {
    await using relay = await startTestRelay(options);
    assert.deepEqual((await listed(relay)).map(({ handle }) => handle), ["carol", "bob_1"]);
  }
});

Deno.test("the list is completed over many records, and once only", async () => {
  using kv = await openMemoryKv();
  const agents = 1_203;
  {
    await using relay = await startTestRelay({
      deps: { kv },
      config,
      limits: { registrationsPerIpPerHour: agents },
    });
    for (let i = 0; i < 2; i++) await registerAgents(relay, `agent_${i}`);
  }
  // Further agents, written as their records stand; every hundredth is banned.
  const [one, inbox, outbox] = await Promise.all([
    kv.get<{ id: number }>(["agent", 1]),
    kv.get<{ banned: boolean }>(["in", 1]),
    kv.get<{ banned: boolean }>(["out", 1]),
  ]);
  for (let id = 3; id <= agents; id++) {
    const isBanned = id % 100 === 0;
    await kv.atomic()
      .set(["agent", id], { ...one.value!, id })
      .set(["in", id], { ...inbox.value!, banned: isBanned })
      .set(["out", id], { ...outbox.value!, banned: isBanned })
      .commit();
  }
  await using relay = await startTestRelay({ deps: { kv }, config });
  const pages = await Promise.all([1, 2, 3].map(() => listed(relay, "?limit=200")));
  for (const page of pages) assert.equal(page.length, 12);
});
