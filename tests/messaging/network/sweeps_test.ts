/** Sweeps of several processes: stopped, taken up, overtaken, and never doing anything twice. */
import { openMemoryKv } from "../../support/read_through.ts";
import { storeOn } from "../../support/store_on.ts";
import assert from "node:assert/strict";
import { setBanned } from "../../../server/messaging/operator/ban_agent.ts";
import { Identities } from "../../../server/messaging/agents/identities.ts";
import type { Identity } from "../../../server/messaging/agents/agent_records.ts";
import { encodeBlock, feedKey } from "../../../server/messaging/network/feed_block.ts";
import { readFeed } from "../../../server/messaging/network/read_feed.ts";
import { recordFigures } from "../../../server/messaging/network/record_figures.ts";
import { sweepKey } from "../../../server/messaging/network/sweep_record.ts";
import { createSweeps } from "../../../server/messaging/network/sweeps.ts";
import { Leases } from "../../../server/base/storage/leases/leases.ts";
import { createTestClock, TEST_START_MS, type TestClock } from "../../support/clock.ts";
import { createFakeKv, type FakeKvOptions } from "../../support/fake_kv.ts";
import { readFigures, recount } from "../../support/figures.ts";
import { interruptedKv } from "../../support/interrupted_kv.ts";
import { startTestRelay } from "../../support/relay.ts";
import { openTestStorage } from "../../support/storage.ts";
import { registerAgents } from "../../support/test_agent.ts";

const RETENTION_MS = 30 * 86_400_000;

interface Network {
  kv: Deno.Kv;
  clock: TestClock;
  agents: Identity[];
}

/** A store with agents that sent each other messages, its relay stopped. */
async function withTraffic(test: (network: Network) => Promise<void>): Promise<void> {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  try {
    {
      await using relay = await startTestRelay({
        config: { sharedStore: true },
        deps: { kv, now: clock.now },
      });
      relay.clock = clock;
      const agents = await registerAgents(relay, "alice", "bob_1", "carol");
      // In bursts, so that several events share a block.
      for (let burst = 0; burst < 5; burst++) {
        await Promise.all(Array.from({ length: 5 }, (_, i) => {
          const to = agents[(burst + i + 1 + i % 2) % 3]!.handle;
          return agents[(burst + i) % 3]!.sent({ to, body: i });
        }));
        clock.advance(61_000);
      }
    }
    const identities = new Identities(storeOn(kv));
    const agents = await Promise.all([1, 2, 3].map((id) => identities.byId(id)));
    await test({ kv, clock, agents });
  } finally {
    kv.close();
  }
}

/** What of a process bans and sweeps. */
async function openProcess(
  { clock }: Network,
  kv: Deno.Kv,
  messagesAStep = 3,
): Promise<{
  sweeps: ReturnType<typeof createSweeps>;
  ban(agent: Identity, banned: boolean): Promise<boolean>;
  close(): Promise<void>;
}> {
  const storage = await openTestStorage(kv, { exclusive: false, clock });
  const { store, records, commits } = storage;
  commits.annotateGroups(recordFigures(RETENTION_MS));
  const sweeps = createSweeps({
    store,
    records,
    commits,
    leases: new Leases(store),
    identities: new Identities(storeOn(kv)),
    retentionMs: RETENTION_MS,
    messagesAStep,
  });
  return {
    sweeps,
    ban: (agent, banned) => setBanned(commits, agent, banned),
    async close() {
      await sweeps.close();
      await storage.close();
    },
  };
}

/** All figures as a relay that opens the store shows them, against a recount. */
async function assertRecounted({ kv, clock }: Network): Promise<void> {
  await using relay = await startTestRelay({
    config: { sharedStore: true },
    deps: { kv, now: clock.now },
  });
  assert.deepEqual(await readFigures(relay), await recount(kv, clock.now()));
}

Deno.test("a sweep that was stopped between steps is taken up by the next process", () =>
  withTraffic(async (network) => {
    const { kv, clock, agents: [alice] } = network;
    const shown = () =>
      readFeed({ store: storeOn(kv), now: clock.now, retentionMs: RETENTION_MS }, {
        limit: 50,
        beforeId: undefined,
      });
    const all = await shown();
    for (const banned of [true, false]) {
      // Its second step is its last.
      const first: Awaited<ReturnType<typeof openProcess>> = await openProcess(
        network,
        interruptedKv(kv, 2, () => {
          void first.sweeps.close();
          return Promise.resolve();
        }),
      );
      await first.ban(alice!, banned);
      await first.sweeps.run();
      assert.notEqual((await kv.get(sweepKey(alice!.id))).value, null);
      if (banned) {
        const left = all.filter(({ senderId, recipientId }) =>
          senderId !== alice!.id && recipientId !== alice!.id
        );
        assert.deepEqual(await shown(), left, "half swept, and all of it hidden");
      }
      await first.close();
      const second = await openProcess(network, kv);
      await second.sweeps.run();
      assert.equal((await kv.get(sweepKey(alice!.id))).value, null);
      await second.close();
      if (!banned) assert.deepEqual(await shown(), all);
      await assertRecounted(network);
    }
  }));

for (const atList of [1, 2, 3, 4]) {
  Deno.test(`an unban during the sweep of the ban, before its list ${atList}, wins`, () =>
    withTraffic(async (network) => {
      const { kv, agents: [alice] } = network;
      const other = await openProcess(network, kv);
      const sweeper = await openProcess(
        network,
        interruptedKv(kv, atList, async () => void await other.ban(alice!, false)),
      );
      await sweeper.ban(alice!, true);
      await sweeper.sweeps.run();
      await sweeper.close();
      await other.close();
      await assertRecounted(network);
    }));

  Deno.test(`a process frozen before list ${atList} of its sweep undoes nothing of its successors`, () =>
    withTraffic(async (network) => {
      const { kv, clock, agents: [alice, bob] } = network;
      const successor = await openProcess(network, kv);
      const frozen = await openProcess(
        network,
        interruptedKv(kv, atList, async () => {
          clock.advance(60_000); // its lease has ended
          await successor.ban(alice!, true);
          await successor.sweeps.run();
        }),
      );
      await frozen.ban(bob!, true);
      await frozen.sweeps.run();
      await frozen.close();
      await successor.sweeps.run();
      await successor.ban(alice!, false);
      await successor.sweeps.run();
      await successor.close();
      await assertRecounted(network);
    }));
}

for (const step of [1, 2, 3, 4]) {
  Deno.test(`step ${step}, overtaken by another sweep before its commit, reads the feed again`, () =>
    withTraffic(async (network) => {
      const { kv, clock, agents: [alice, bob] } = network;
      let steps = 0;
      // The successor sweeps alice alone, in two steps, then stops: bob's own sweep is as it was.
      let successor: Awaited<ReturnType<typeof openProcess>> | undefined;
      const intercept: FakeKvOptions["intercept"] = async ({ writes }, run) => {
        if (writes.some(({ key }) => key[0] === "sweep-turn") && ++steps === step) {
          clock.advance(60_000);
          const once = interruptedKv(kv, 2, () => {
            void successor!.sweeps.close();
            return Promise.resolve();
          });
          successor = await openProcess(network, once, 100);
          await successor.ban(alice!, true);
          await successor.sweeps.run();
          assert.equal((await kv.get(sweepKey(alice!.id))).value, null);
          assert.notEqual((await kv.get(sweepKey(bob!.id))).value, null);
        }
        return await run();
      };
      const frozen = await openProcess(network, createFakeKv({ kv, maxChecks: 100, intercept }));
      await frozen.ban(bob!, true);
      await frozen.sweeps.run();
      await frozen.close();
      await successor!.close();
      const last = await openProcess(network, kv);
      await last.sweeps.run();
      await assertRecounted(network);
      for (const agent of [alice!, bob!]) await last.ban(agent, false);
      await last.sweeps.run();
      await last.close();
      await assertRecounted(network);
    }));
}

Deno.test("two processes that sweep at one time correct the figures once", () =>
  withTraffic(async (network) => {
    const { kv, agents: [alice, bob, carol] } = network;
    const processes = await Promise.all([1, 2, 3].map(() => openProcess(network, kv)));
    await Promise.all([
      processes[0]!.ban(alice!, true).then(() => processes[0]!.sweeps.run()),
      processes[1]!.ban(bob!, true).then(() => processes[1]!.sweeps.run()),
      processes[2]!.ban(carol!, true).then(() => processes[2]!.sweeps.run()),
    ]);
    for (const one of processes) await one.sweeps.run();
    await assertRecounted(network);
    await Promise.all([alice!, carol!].map((agent) => processes[0]!.ban(agent, false)));
    for (const one of processes) await one.sweeps.run();
    for (const one of processes) await one.close();
    await assertRecounted(network);
  }));

Deno.test("a page that must pass over too many events of a ban under way is refused, not scanned for", async () => {
  const kv = await openMemoryKv();
  const firstId = (TEST_START_MS - 1_735_689_600_000) * 4096;
  const events = (block: number, senderId: number) =>
    Array.from({ length: 256 }, (_, i) => ({
      id: firstId + (256 * block + i) * 256,
      senderId,
      recipientId: 2,
      senderHandle: "alice",
      recipientHandle: "bob_1",
      createdAtMs: TEST_START_MS,
    }));
  const put = (block: number, senderId: number) => {
    const one = events(block, senderId);
    return kv.set(feedKey(one.at(-1)!.id), encodeBlock(one));
  };
  await put(0, 3);
  for (let block = 1; block <= 200; block++) await put(block, 1);
  const options = { store: storeOn(kv), now: () => TEST_START_MS, retentionMs: RETENTION_MS };
  const page = () => readFeed(options, { limit: 10, beforeId: undefined });
  assert.equal((await page())[0]!.senderId, 1);
  await kv.set(sweepKey(1), { v: 1, kind: "hide" });
  await assert.rejects(page(), { code: "unavailable" });
  for (let block = 1; block <= 20; block++) await kv.delete(feedKey(events(block, 1).at(-1)!.id));
  assert.deepEqual((await page()).map(({ senderId }) => senderId), Array(10).fill(3));
  kv.close();
});
