/** POST /v1/admin/purge: who may be purged, what goes, and what stays. */
import {
  openMemoryKv,
  rawOf,
  SAVED_AT_ONCE,
  storedRecord,
  untilSaved,
} from "../../support/read_through.ts";
import assert from "node:assert/strict";
import { inKey, outKey } from "../../../server/messaging/mailboxes/agent_mailboxes.ts";
import { purgeKey, purgingKey } from "../../../server/messaging/messages/rows/purge_record.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { ADMIN_TOKEN, askAdmin, readFigures, setBanned } from "../../support/figures.ts";
import { until } from "../../support/journal.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, registerAgents, type TestAgent } from "../../support/test_agent.ts";

const config = { adminToken: ADMIN_TOKEN };
const NOBODY = "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z";

async function purged(relay: TestRelay, { address }: TestAgent): Promise<void> {
  const answer = await askAdmin(relay, "purge", address);
  assertStatus(answer, 202);
  assert.deepEqual(answer.json, { pubkey: address, status: "purging" });
  await relay.relay.crons.figures!(); // waits for what runs
}

/** Keys of all rows that hold something of messages. */
async function messageRows(kv: Deno.Kv): Promise<Deno.KvKey[]> {
  const keys: Deno.KvKey[] = [];
  for (const prefix of ["inbox", "outbox", "piece", "raw", "feed", "purging", "sweep"]) {
    for await (const { key } of kv.list({ prefix: [prefix] })) keys.push(key);
  }
  return keys;
}

Deno.test("a purge takes the admin token, and the key of a banned agent", async () => {
  await using relay = await startTestRelay({ config });
  const [alice] = await registerAgents(relay, "alice");
  const url = `${relay.url}/v1/admin/purge`;
  for (const body of ["", "{", JSON.stringify({ pubkey: alice.address })]) {
    assertRefused(await ask(url, { method: "POST", body }), "unknown_token");
    const signed = await alice.call("POST", "/v1/admin/purge", { body });
    assertRefused(signed, "unknown_token");
  }
  const unnamed: Parameters<typeof askAdmin>[2][] = [
    {},
    { pubkey: null },
    { pubkey: 1 },
    { handle: "alice" },
  ];
  for (const request of unnamed) {
    assertRefused(await askAdmin(relay, "purge", request), "invalid_json", /pubkey/);
  }
  for (const pubkey of ["", "alice", "0".repeat(44), `${NOBODY}1`]) {
    assertRefused(await askAdmin(relay, "purge", pubkey), "invalid_pubkey");
  }
  assertRefused(await askAdmin(relay, "purge", NOBODY), "not_found");
  assertRefused(await askAdmin(relay, "purge", alice.address), "invalid_json", /ban it first/);
  await setBanned(relay, alice, true);
  await purged(relay, alice);
  await setBanned(relay, alice, false);
  assertRefused(await askAdmin(relay, "purge", alice.address), "invalid_json", /ban it first/);
  for (const method of ["OPTIONS", "GET", "HEAD", "PATCH"]) {
    const answer = await ask(url, { method, headers: { Origin: "https://example.org" } });
    assert.equal(answer.status, method === "OPTIONS" ? 204 : 405);
    assert.equal(answer.headers.get("allow"), "POST, OPTIONS");
    for (const [name] of answer.headers) assert.ok(!name.startsWith("access-control"), name);
  }
});

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`a purge deletes all that an agent sent, and nothing else, on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { ...config, sharedStore } });
    const { kv } = relay.deps;
    const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
    const kept = await bob.sent({ to: "alice", body: "to alice" });
    const before = await messageRows(kv);
    const large = "x".repeat(64_000); // its JSON needs two values
    const gone = [
      await alice.sent({ to: "bob_1", body: "read" }),
      await alice.sent({ to: "bob_1", body: large }),
      await alice.sent({ to: "alice", body: "to herself" }),
    ];
    assert.equal((await bob.inbox("limit=1")).length, 1);
    // Not RFC 8785: its raw bytes are kept as well.
    const raw = await alice.send(`{ "to":"carol", "body":"${large}" }`);
    assertStatus(raw, 201);
    gone.push(raw.json.id);
    const alsoKept = await carol.sent({ to: "bob_1", body: "to bob" });
    const heads = await Promise.all([1, 2, 3].map((id) => storedRecord(kv, inKey(id))));
    const { stats } = await readFigures(relay);
    assert.notDeepEqual((await storedRecord(kv, outKey(1))).value!.retained, []);

    await setBanned(relay, alice, true);
    await purged(relay, alice);
    assert.deepEqual((await bob.inbox()).map(({ id }) => id), [alsoKept]);
    assert.deepEqual(await bob.inbox("unread=true"), []);
    assert.deepEqual(await carol.inbox(), []);
    assert.deepEqual((await alice.inbox()).map(({ id }) => id), [kept]);
    assert.deepEqual(await alice.outbox(), []);
    for (const id of gone) {
      for (const agent of [alice, bob, carol]) {
        assertRefused(await agent.call("GET", `/v1/messages/${id}/signed-request`), "not_found");
      }
    }
    const out = (await storedRecord(kv, outKey(1))).value!;
    assert.deepEqual([out.head, out.retained], [gone.at(-1), []]);
    for (const [i, row] of heads.entries()) {
      assert.equal((await storedRecord(kv, inKey(i + 1))).value!.head, row.value!.head);
    }
    // While it is banned, and after an unban: what others sent it is back, its own is not.
    assert.deepEqual((await readFigures(relay)).events.map(({ id }) => id), [alsoKept]);
    await setBanned(relay, alice, false);
    const figures = await readFigures(relay);
    assert.deepEqual(figures.events.map(({ id }) => id), [alsoKept, kept]);
    assert.deepEqual(figures.agents.map(({ handle }) => handle), ["bob_1", "carol"]);
    assert.deepEqual(figures.stats, stats);
    const rows = await messageRows(kv);
    for (const id of gone) {
      assert.ok(!rows.some((key) => key.includes(id) && key[0] !== "feed"), `${id}`);
    }
    assert.ok(rows.length <= before.length + 3, "carol's message, and its event");

    // It goes on as before, above what it had.
    const next = await alice.sent({ to: "bob_1", body: "after" });
    assert.ok(next > gone.at(-1)!);
    assert.deepEqual((await bob.inbox(`since_id=${alsoKept}`)).map(({ id }) => id), [next]);
    assert.deepEqual((await bob.inbox("unread=true")).length, 0);
    assert.deepEqual((await alice.outbox()).map(({ id }) => id), [next]);
    const events = relay.logged.filter(({ event }) => event.startsWith("purge_"));
    assert.deepEqual(events.map(({ event }) => event), ["purge_begun", "purge_ended"]);
  });

  Deno.test(`repeating a purge is 202, and takes what was sent since, on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { ...config, sharedStore } });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    await setBanned(relay, alice, true);
    for (let i = 0; i < 3; i++) await purged(relay, alice);
    for (let round = 0; round < 2; round++) {
      await setBanned(relay, alice, false);
      await alice.sent({ to: "bob_1", body: round });
      await setBanned(relay, alice, true);
      assert.equal((await bob.inbox()).length, 1);
      await Promise.all([purged(relay, alice), purged(relay, alice)]);
      assert.deepEqual(await bob.inbox(), []);
    }
    await setBanned(relay, alice, false);
    assert.deepEqual((await readFigures(relay)).events, []);
    assert.equal((await readFigures(relay)).stats.total_messages, 2);
  });
}

Deno.test("a purge goes on behind its answer, and at a start where a process left it", async () => {
  using kv = await openMemoryKv();
  const options = { config: { ...config, sharedStore: true }, deps: { kv } };
  const left = async () => (await Array.fromAsync(kv.list({ prefix: ["purging"] }))).length;
  let head: number;
  {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    await alice.sent({ to: "bob_1", body: "one" });
    head = await bob.sent({ to: "alice", body: "two" });
    await setBanned(relay, alice, true);
    assertStatus(await askAdmin(relay, "purge", alice.address), 202);
    await until(async () => await left() === 0);
    assert.equal((await messageRows(kv)).length, 2, "what she got");
  }
  const purge = { v: 1, handle: "bob_1", beforeId: head + 1, nextBeforeId: head + 1, retained: [] };
  await kv.set(purgeKey(2), purge);
  await kv.set(purgingKey(2), 1);
  await using _ = await startTestRelay(options);
  await until(async () => await left() === 0);
  assert.deepEqual(await messageRows(kv), []);
});

Deno.test("a purge frees what its agent may keep in the store, and no more", async () => {
  const limits = { retainedBytesPerSender: 100_000 };
  await using relay = await startTestRelay({ config, limits });
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  const large = { to: "bob_1", body: "x".repeat(48_000) };
  for (let round = 0; round < 2; round++) {
    await alice.sent(large);
    await alice.sent(large);
    assertRefused(await alice.send(large), "rate_limited", /retained/);
    await setBanned(relay, alice, true);
    assertRefused(await alice.send(large), "banned");
    await purged(relay, alice);
    await setBanned(relay, alice, false);
  }
});

Deno.test("a purge of many messages takes many steps and leaves none of their rows", async () => {
  const limits = { sendsPerAgentPerMinute: 1_000 };
  await using relay = await startTestRelay({ config, limits });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  // 350 small ones, and 45 of fourteen rows' worth of body and request each.
  for (let i = 0; i < 14; i++) {
    await Promise.all(Array.from({ length: 25 }, () => alice.sent({ to: "bob_1", body: i })));
  }
  for (let i = 0; i < 9; i++) {
    await Promise.all(
      Array.from(
        { length: 5 },
        (_, n) => alice.send(`{ "to":"bob_1", "body":"${i}-${n}-${"x".repeat(62_000)}" }`),
      ),
    );
  }
  assert.equal((await alice.outbox("limit=200")).length, 200);
  await setBanned(relay, alice, true);
  await purged(relay, alice);
  assert.deepEqual(await messageRows(relay.deps.kv), []);
  assert.deepEqual(await bob.inbox(), []);
});

Deno.test("a process that keeps purged messages in memory shows them two seconds at most", async () => {
  using kv = await openMemoryKv();
  const options = { deps: { kv }, config: { ...config, sharedStore: true } };
  await using one = await startTestRelay(options);
  await using two = await startTestRelay(options);
  const [alice, bob] = await registerAgents(two, "alice", "bob_1");
  const id = await alice.sent({ to: "bob_1", body: "in the memory of two" });
  assert.equal((await bob.inbox()).length, 1);
  await setBanned(one, alice, true);
  await purged(one, alice);
  assert.deepEqual(await bob.inbox(), []); // two seconds later
  assertRefused(await bob.call("GET", `/v1/messages/${id}/signed-request`), "not_found");
  assert.deepEqual(await alice.outbox(), []);
  // Memory goes on from there.
  await setBanned(one, alice, false);
  const next = await alice.sent({ to: "bob_1", body: "after" });
  assert.deepEqual((await bob.inbox()).map((message) => message.id), [next]);
});

/** A store that lets a purge happen right after or before the first read of a message's pieces. */
function aroundPieces(kv: Deno.Kv, when: "before" | "after", purge: () => Promise<void>): Deno.Kv {
  let isFirst = true;
  const around = async <T>([kind]: Deno.KvKey, read: () => Promise<T>) => {
    if (!isFirst || kind !== "piece") return await read();
    isFirst = false;
    if (when === "before") await purge();
    const found = await read();
    if (when === "after") await purge();
    return found;
  };
  return new Proxy(rawOf(kv), {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (name === "get") return (key: Deno.KvKey) => around(key, () => target.get(key));
      if (name !== "getMany") return member.bind(target);
      return (keys: Deno.KvKey[]) => around(keys[0] ?? [], () => target.getMany(keys));
    },
  });
}

for (const when of ["before", "after"] as const) {
  for (const reader of ["inbox", "outbox", "signed-request"] as const) {
    Deno.test(`a purge ${when} the pieces are read neither breaks ${reader} nor leaves ghosts`, async () => {
      using kv = await openMemoryKv();
      const world: { relay?: TestRelay; alice?: TestAgent } = {};
      const purge = async () => {
        await setBanned(world.relay!, world.alice!, true);
        await purged(world.relay!, world.alice!);
      };
      await using relay = await startTestRelay({
        config,
        deps: { kv: aroundPieces(kv, when, purge) },
        relay: { journalBounds: SAVED_AT_ONCE },
      });
      const alice = await registerAgent(relay, "alice");
      Object.assign(world, { relay, alice });
      const bob = await registerAgent(relay, "bob_1");
      const id = await alice.sent({ to: "bob_1", body: "x".repeat(64_000) });
      const last = await bob.sent({ to: "bob_1", body: "stays" });
      // A read of an exclusive store gives what is so when it ends, the purge included.
      const expected = [last];
      await untilSaved(kv); // else memory has the pieces
      if (reader === "inbox") {
        assert.deepEqual((await bob.inbox()).map((message) => message.id), expected);
      } else if (reader === "outbox") {
        assert.equal((await alice.outbox()).length, 0);
      } else {
        const answer = await bob.call("GET", `/v1/messages/${id}/signed-request`);
        assertRefused(answer, "not_found");
      }
      await setBanned(relay, alice, false);
      assert.deepEqual((await readFigures(relay)).events.map((event) => event.id), [last]);
      assert.deepEqual(await alice.outbox(), []);
      assert.deepEqual((await bob.inbox()).map((message) => message.id), [last]);
      // A repetition takes the row that a poll of that moment wrote again.
      await purge();
      for await (const row of kv.list({ prefix: ["outbox", 1] })) assert.fail(`${row.key}`);
    });
  }
}
