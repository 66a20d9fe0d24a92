/** What one process changes, others show: at once in the store, and in every search index. */
import assert from "node:assert/strict";
import { Presence } from "../../../server/messaging/agents/presence.ts";
import { Directory } from "../../../server/messaging/directory/directory.ts";
import { changeKey } from "../../../server/messaging/directory/listing.ts";
import { DirectoryPacks } from "../../../server/messaging/directory/directory_packs.ts";
import { PublicReads } from "../../../server/base/storage/commits/public_reads.ts";
import { createTestClock } from "../../support/clock.ts";
import { createFakeKv, type FakeKv } from "../../support/fake_kv.ts";
import { ADMIN_TOKEN, setBanned } from "../../support/figures.ts";
import { ask, assertStatus } from "../../support/answer.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { openTestStorage } from "../../support/storage.ts";
import { registerAgent } from "../../support/test_agent.ts";

const options = {
  limits: { registrationsPerIpPerHour: 1_000, searchesPerIpPerMinute: 100_000 },
};

async function handles(relay: { url: string }, query: string): Promise<string[]> {
  const answer = await ask(`${relay.url}/v1/agents?${query}`);
  assertStatus(answer, 200);
  return answer.json.agents.map((agent: { handle: string }) => agent.handle);
}

async function withRelays(
  count: number,
  test: (relays: TestRelay[], kv: Deno.Kv, fakes: FakeKv[]) => Promise<void>,
): Promise<void> {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const relays: TestRelay[] = [];
  const fakes: FakeKv[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const fake = createFakeKv({ kv, seed: i + 1, maxChecks: 100 });
      fakes.push(fake);
      const relay = await startTestRelay({
        ...options,
        config: { sharedStore: true, adminToken: ADMIN_TOKEN },
        deps: { kv: fake, now: clock.now },
      });
      relay.clock = clock;
      relays.push(relay);
    }
    await test(relays, kv, fakes);
  } finally {
    for (const relay of relays) await relay.stop();
    kv.close();
  }
}

Deno.test("registrations, profiles, bans and unbans of one process show in every other's searches", () =>
  withRelays(3, async (relays) => {
    assert.equal(relays.length, 3);
    const [one, two, three] = relays;
    const everywhere = async (query: string, expected: string[]) => {
      for (const relay of relays) assert.deepEqual(await handles(relay, query), expected, query);
    };
    await everywhere("q=bot", []);
    const a = await registerAgent(one!, "bot_a");
    await everywhere("q=bot", ["bot_a"]);
    const b = await registerAgent(two!, "bot_b");
    await everywhere("q=bot", ["bot_b", "bot_a"]);
    for (const [i, relay] of relays.entries()) {
      const tags = [`now-${i}`];
      assertStatus(await a.at(relay).call("PATCH", "/v1/agents/me", { body: { tags } }), 200);
      await everywhere(`tags=now-${i}`, ["bot_a"]);
      if (i > 0) await everywhere(`tags=now-${i - 1}`, []);
    }
    await setBanned(three!, b, true);
    await everywhere("q=bot", ["bot_a"]);
    await everywhere("limit=5", ["bot_a"]);
    await setBanned(one!, b, false);
    // Sightings are written once a minute.
    for (const relay of relays) {
      assert.deepEqual((await handles(relay, "q=bot")).sort(), ["bot_a", "bot_b"]);
    }
  }));

Deno.test("who was seen by one process stands first in every other's searches within a minute", () =>
  withRelays(2, async ([one, two]) => {
    const agents = [];
    for (const handle of ["bot_a", "bot_b", "bot_c"]) {
      agents.push(await registerAgent(one!, handle));
    }
    assert.deepEqual(await handles(two!, "q=bot"), ["bot_c", "bot_b", "bot_a"]);
    await agents[0]!.call("GET", "/v1/whoami");
    assert.deepEqual(await handles(one!, "q=bot"), ["bot_a", "bot_c", "bot_b"]);
    await one!.stop(); // it writes whom it saw, as it does each minute
    two!.clock.advance(2_000);
    assert.deepEqual(await handles(two!, "q=bot"), ["bot_a", "bot_c", "bot_b"]);
  }));

Deno.test("a process that missed more changes than are kept reads the directory anew", () =>
  withRelays(2, async ([one, two], kv) => {
    const a = await registerAgent(one!, "bot_a");
    const b = await registerAgent(one!, "bot_b");
    assert.equal((await handles(two!, "q=bot")).length, 2);
    for (let i = 0; i < 5; i++) {
      await a.call("PATCH", "/v1/agents/me", { body: { tags: [`t${i}`] } });
    }
    await setBanned(one!, b, true);
    for (const seq of [1, 2, 5]) await kv.delete(changeKey(seq));
    assert.deepEqual(await handles(two!, "q=bot"), ["bot_a"]);
    assert.deepEqual(await handles(two!, "tags=t4"), ["bot_a"]);
  }));

Deno.test("a directory read from packs is the one read from rows, whatever has changed since", async () => {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  let agents;
  {
    await using relay = await startTestRelay({
      ...options,
      config: { sharedStore: true, adminToken: ADMIN_TOKEN },
      deps: { kv, now: clock.now },
    });
    relay.clock = clock;
    agents = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        registerAgent(relay, `bot_${i}`, {
          profile: { description: `says ${i} ${"🦊".repeat(i % 300)}`, tags: [`t${i % 7}`] },
        })),
    );
    const storage = await openTestStorage(kv, { exclusive: false, clock });
    const packs = new DirectoryPacks(storage.store, 1);
    const open = (withPacks: boolean) => {
      const { store, records } = storage;
      const presence = new Presence(store);
      const publicReads = new PublicReads(store, records);
      return new Directory({
        store,
        records,
        presence,
        publicReads,
        packs: withPacks ? packs : null,
      });
    };
    const assertSame = async () => {
      for (const query of [{ text: "bot", tags: [] }, { text: "says 1", tags: ["t3"] }]) {
        const page = { order: "newest" as const, offset: 0, limit: 1_000 };
        const rows = await open(false).search(query, page);
        assert.deepEqual(await open(true).search(query, page), rows);
        assert.ok(rows.length > 10);
      }
    };
    const listed = async () => {
      let listings = 0;
      const state = await packs.load(() => listings++);
      return state === null ? null : listings;
    };
    assert.equal(await listed(), null);
    await packs.build();
    assert.equal(await listed(), 300);
    await assertSame();
    for (const agent of agents.slice(5, 9)) await setBanned(relay, agent, true);
    await agents[20]!.call("PATCH", "/v1/agents/me", { body: { description: "quiet now" } });
    await registerAgent(relay, "bot_late");
    await assertSame();
    assert.equal(await listed(), 300);
    await packs.build();
    assert.equal(await listed(), 297);
    await assertSame();
    for (const agent of agents.slice(5, 9)) await setBanned(relay, agent, false);
    for (let seq = 1; seq <= 9; seq++) await kv.delete(changeKey(seq));
    await assertSame();
    await packs.build();
    assert.equal(await listed(), 301);
    await assertSame();
    await storage.close();
  }
  kv.close();
});

Deno.test("two processes that pack at one time leave packs that hold every change", async () => {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  {
    await using relay = await startTestRelay({
      ...options,
      config: { sharedStore: true, adminToken: ADMIN_TOKEN },
      deps: { kv, now: clock.now },
    });
    relay.clock = clock;
    const agents = [];
    for (let i = 0; i < 40; i++) agents.push(await registerAgent(relay, `bot_${i}`));
    const faults = { deniedSuccess: 0.1, lostAnswer: 0, locked: 0.1, repeated: 0.1 };
    const storages = await Promise.all(
      [1, 2, 3].map((seed) =>
        openTestStorage(createFakeKv({ kv, seed, maxChecks: 100, faults, delayMs: 2 }), {
          exclusive: false,
          clock,
        })
      ),
    );
    const packs = storages.map(({ store }) => new DirectoryPacks(store, 1));
    for (let round = 0; round < 12; round++) {
      const agent = agents[round * 3]!;
      await Promise.all([
        ...packs.map((one) => one.build()),
        agent.call("PATCH", "/v1/agents/me", { body: { tags: [`round-${round}`] } }),
        setBanned(relay, agents[round]!, round % 2 === 0),
      ]);
    }
    const saneStorage = await openTestStorage(kv, { exclusive: false, clock });
    const sane = new DirectoryPacks(saneStorage.store, 1);
    await sane.build();
    const packed: string[] = [];
    assert.notEqual(await sane.load((listing) => packed.push(JSON.stringify(listing))), null);
    const rows: string[] = [];
    for await (const { value } of kv.list({ prefix: ["listed"] })) rows.push(JSON.stringify(value));
    assert.deepEqual(packed, rows);
    for (const storage of [...storages, saneStorage]) await storage.close();
  }
  kv.close();
});
