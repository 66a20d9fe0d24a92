/** Purges of several processes: stopped, taken up, overtaken, and unbanned in the middle. */
import { openMemoryKv } from "../../support/read_through.ts";
import { storeOn } from "../../support/store_on.ts";
import assert from "node:assert/strict";
import { setBanned } from "../../../server/messaging/operator/ban_agent.ts";
import { Purges } from "../../../server/messaging/operator/purges.ts";
import { Identities } from "../../../server/messaging/agents/identities.ts";
import type { Identity } from "../../../server/messaging/agents/agent_records.ts";
import { outKey, type OutRecord } from "../../../server/messaging/mailboxes/agent_mailboxes.ts";
import { purgingKey } from "../../../server/messaging/messages/rows/purge_record.ts";
import { RecentMessages } from "../../../server/messaging/messages/rows/recent_messages.ts";
import { recordFigures } from "../../../server/messaging/network/record_figures.ts";
import { createSweeps } from "../../../server/messaging/network/sweeps.ts";
import { Leases } from "../../../server/base/storage/leases/leases.ts";
import {
  KV_CONNECT_CAPACITY,
  type StoreCapacity,
} from "../../../server/base/storage/rows/store.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { readFigures, recount } from "../../support/figures.ts";
import { createFakeKv, NO_FAULTS } from "../../support/fake_kv.ts";
import { interruptedKv } from "../../support/interrupted_kv.ts";
import { startTestRelay } from "../../support/relay.ts";
import { openTestStorage } from "../../support/storage.ts";
import { registerAgents } from "../../support/test_agent.ts";

const RETENTION_MS = 30 * 86_400_000;
const SENT = 10;

interface World {
  kv: Deno.Kv;
  clock: TestClock;
  alice: Identity;
}

/** A store where alice sent ten messages and got five; its relay has stopped. */
async function withTraffic(test: (world: World) => Promise<void>): Promise<void> {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  {
    await using relay = await startTestRelay({
      config: { sharedStore: true },
      deps: { kv, now: clock.now },
    });
    relay.clock = clock;
    const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
    for (let i = 0; i < SENT; i++) {
      await alice.sent({ to: ["bob_1", "carol", "alice"][i % 3]!, body: "x".repeat(6_000 * i) });
      if (i % 2 === 0) await [bob, carol][i / 2 % 2]!.sent({ to: "alice", body: i });
      clock.advance(20_000);
    }
  }
  const alice = await new Identities(storeOn(kv)).byId(1);
  await test({ kv, clock, alice });
}

interface Process {
  ban(banned: boolean): Promise<boolean>;
  begin(): Promise<void>;
  purges: Purges;
  sweeps: ReturnType<typeof createSweeps>;
  close(): Promise<void>;
}

async function openProcess(
  { clock, alice }: World,
  kv: Deno.Kv,
  capacity?: StoreCapacity,
): Promise<Process> {
  const storage = await openTestStorage(kv, { exclusive: false, clock, capacity });
  const { store, records, commits } = storage;
  commits.annotateGroups(recordFigures(RETENTION_MS));
  const leases = new Leases(store);
  const retentionMs = RETENTION_MS;
  const messagesAStep = 3;
  const identities = new Identities(storeOn(kv));
  const sweeps = createSweeps({
    store,
    records,
    commits,
    leases,
    identities,
    retentionMs,
    messagesAStep,
  });
  const recent = new RecentMessages();
  const log = () => {};
  const purges = new Purges({ store, commits, leases, recent, retentionMs, log, messagesAStep });
  return {
    ban: (banned) => setBanned(commits, alice, banned),
    begin: () => purges.begin(alice),
    purges,
    sweeps,
    async close() {
      await Promise.all([purges.close(), sweeps.close()]);
      await storage.close();
    },
  };
}

async function ofAlice(kv: Deno.Kv): Promise<number> {
  let rows = 0;
  for await (const _ of kv.list({ prefix: ["outbox", 1] })) rows++;
  return rows;
}

/** Nothing of alice's is left, and the figures match what is there. */
async function assertPurged({ kv, clock }: World): Promise<void> {
  assert.equal(await ofAlice(kv), 0);
  for await (const { key } of kv.list({ prefix: ["piece"] })) assert.fail(`${key}`);
  for await (const { key } of kv.list({ prefix: ["purging"] })) assert.fail(`${key}`);
  assert.deepEqual((await kv.get<OutRecord>(outKey(1))).value!.retained, []);
  await using relay = await startTestRelay({
    config: { sharedStore: true },
    deps: { kv, now: clock.now },
  });
  const { events, agents } = await readFigures(relay);
  const counted = await recount(kv, clock.now());
  assert.deepEqual({ events, agents }, { events: counted.events, agents: counted.agents });
}

Deno.test("a purge that was stopped between steps is taken up by the next process", () =>
  withTraffic(async (world) => {
    const { kv } = world;
    const first: Process = await openProcess(
      world,
      interruptedKv(kv, 2, () => {
        void first.purges.close();
        return Promise.resolve();
      }),
    );
    await first.ban(true);
    await first.begin();
    await first.purges.run();
    // Its second step was its last.
    assert.equal(await ofAlice(kv), SENT - 6);
    assert.notEqual((await kv.get(purgingKey(1))).value, null);
    const { retained } = (await kv.get<OutRecord>(outKey(1))).value!;
    assert.notDeepEqual(retained, []);
    await first.close();
    const second = await openProcess(world, kv);
    await second.sweeps.run();
    await second.purges.run();
    await assertPurged(world);
    await second.ban(false);
    await second.sweeps.run();
    await second.close();
    await assertPurged(world);
  }));

for (const atList of [1, 2, 3, 4]) {
  Deno.test(`an unban before step ${atList} of a purge does not end it, and brings nothing back`, () =>
    withTraffic(async (world) => {
      const { kv } = world;
      const other = await openProcess(world, kv);
      const purger = await openProcess(
        world,
        interruptedKv(kv, atList, async () => {
          await other.ban(false);
          await other.sweeps.run();
        }),
      );
      await purger.ban(true);
      await purger.begin();
      await purger.purges.run();
      await purger.close();
      await other.sweeps.run();
      await other.close();
      await assertPurged(world);
    }));

  Deno.test(`a process frozen before step ${atList} of its purge undoes nothing of its successors`, () =>
    withTraffic(async (world) => {
      const { kv, clock } = world;
      const successor = await openProcess(world, kv);
      const frozen = await openProcess(
        world,
        interruptedKv(kv, atList, async () => {
          clock.advance(60_000); // its lease has ended
          await successor.sweeps.run();
          await successor.purges.run();
          await successor.ban(false);
          await successor.sweeps.run();
        }),
      );
      await frozen.ban(true);
      await frozen.begin();
      await frozen.purges.run();
      await frozen.close();
      await successor.close();
      await assertPurged(world);
    }));

  Deno.test(`a ban's sweep that stopped before its list ${atList} and a purge correct the figures once`, () =>
    withTraffic(async (world) => {
      const { kv } = world;
      const sweeper: Process = await openProcess(
        world,
        interruptedKv(kv, atList, async () => {
          await purger.begin();
          await purger.purges.run();
        }),
      );
      const purger = await openProcess(world, kv);
      await sweeper.ban(true);
      await sweeper.sweeps.run();
      await assertPurged(world);
      await Promise.all([purger.sweeps.run(), sweeper.purges.run()]);
      await sweeper.ban(false);
      await sweeper.sweeps.run();
      await sweeper.close();
      await purger.close();
      await assertPurged(world);
    }));
}

Deno.test("a row that says that a purge is going on, without one, keeps nobody at work", () =>
  withTraffic(async (world) => {
    await world.kv.set(purgingKey(1), 1);
    const process = await openProcess(world, world.kv);
    await process.purges.run();
    await process.close();
    assert.equal((await world.kv.get(purgingKey(1))).value, null);
    assert.equal(await ofAlice(world.kv), SENT);
  }));

Deno.test("two processes that purge at one time leave nothing and correct the figures once", () =>
  withTraffic(async (world) => {
    const processes = await Promise.all([1, 2, 3].map(() => openProcess(world, world.kv)));
    await processes[0]!.ban(true);
    await Promise.all(processes.map(({ begin }) => begin()));
    await Promise.all(processes.map(({ purges }) => purges.run()));
    await Promise.all(processes.map(({ sweeps }) => sweeps.run()));
    for (const one of processes) await one.purges.run();
    for (const one of processes) await one.close();
    await assertPurged(world);
  }));

for (let seed = 1; seed <= 4; seed++) {
  Deno.test(`a purge among bans and unbans on bad KV servers ends as it should, seed ${seed}`, () =>
    withTraffic(async (world) => {
      const share = 0.05;
      const faults = { deniedSuccess: share, lostAnswer: share, locked: share, repeated: share };
      const fakes = [1, 2, 3].map((i) =>
        createFakeKv({ kv: world.kv, seed: seed * 10 + i, faults, delayMs: 1 })
      );
      const processes = await Promise.all(
        fakes.map((kv) => openProcess(world, kv, KV_CONNECT_CAPACITY)),
      );
      const [one, two, three] = processes as [Process, Process, Process];
      /** A caller that hears of a failure asks again. */
      const insist = async (act: () => Promise<unknown>) => {
        for (let attempt = 0; attempt < 20; attempt++) {
          try {
            return await act();
          } catch (error) {
            if (attempt === 19) throw error;
          }
        }
      };
      await insist(() => one.ban(true));
      await insist(() => two.begin());
      await Promise.all([
        ...processes.map(({ purges }) => insist(() => purges.run())),
        insist(() => three.ban(false)).then(() => insist(() => three.sweeps.run())),
        insist(() => one.sweeps.run()),
      ]);
      for (const fake of fakes) Object.assign(fake.faults, NO_FAULTS);
      for (const { purges, sweeps } of processes) {
        await insist(() => purges.run());
        await insist(() => sweeps.run());
      }
      for (const process of processes) await process.close();
      await assertPurged(world);
    }));
}
