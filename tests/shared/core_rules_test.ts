// Over 300 lines: one rule of the architecture after the other, on one rig.
/** The rules that keep the core correct (docs/architecture.md), each where HTTP can see it. */
import assert from "node:assert/strict";
import { inKey, outKey } from "../../server/messaging/mailboxes/agent_mailboxes.ts";
import { QUEUE_BOUNDS } from "../../server/base/storage/commits/job_queue.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { setBanned as setBannedInStore } from "../support/ban_in_store.ts";
import { ADMIN_TOKEN, setBanned } from "../support/figures.ts";
import {
  createFakeKv,
  type FakeCommit,
  type FakeKv,
  type FakeKvOptions,
} from "../support/fake_kv.ts";
import { openMemoryKv, storedRecord } from "../support/read_through.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../support/relay.ts";
import { registerAgents, type TestAgent, toBytes } from "../support/test_agent.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MARGIN_MS = 2 * HOUR_MS;

interface Rig {
  kv: Deno.Kv;
  fake: FakeKv;
  relay: TestRelay;
  alice: TestAgent;
  bob: TestAgent;
  carol: TestAgent;
}

async function withRig(
  body: (rig: Rig) => Promise<void>,
  { fake: fakeOptions = {}, ...options }: TestRelayOptions & {
    fake?: Omit<FakeKvOptions, "kv">;
  } = {},
): Promise<void> {
  const kv = await openMemoryKv();
  const fake = createFakeKv({ kv, maxChecks: 100, ...fakeOptions });
  const relay = await startTestRelay({
    relay: { capacity: EMBEDDED_CAPACITY },
    ...options,
    deps: { kv: fake },
  });
  try {
    const [alice, bob, carol] = await registerAgents(relay, "alice", "bob", "carol");
    await body({ kv, fake, relay, alice, bob, carol });
  } finally {
    await relay.stop();
    kv.close();
  }
}

async function agentId(kv: Deno.Kv, handle: string): Promise<number> {
  return (await kv.get<{ id: number }>(["handle", handle])).value!.id;
}

function holdsSend(commit: FakeCommit): boolean {
  return commit.writes.some(({ key }) => key[0] === "sig");
}

function writes(commit: FakeCommit, wanted: Deno.KvKey): boolean {
  return commit.writes.some(({ key }) => `${key}` === `${wanted}`);
}

Deno.test("every row that a decision rests on outlives its logical life by two hours, those of signatures without end", async () => {
  await withRig(async ({ fake, relay, alice, bob }) => {
    const loose = `{ "to": "bob", "body": "${"x".repeat(65_000)}" }`; // kept raw, and in pieces
    assertStatus(await alice.send(loose), 201);
    assertStatus(
      await alice.send({ to: "bob", body: "ahead" }, {
        timestamp: relay.clock.seconds() + 300,
      }),
      201,
    );
    assertStatus(await bob.poll(), 200);
    const lives: Record<string, number> = {
      inbox: 30 * DAY_MS,
      outbox: 30 * DAY_MS,
      piece: 30 * DAY_MS,
      raw: 30 * DAY_MS,
      feed: 30 * DAY_MS,
      window: HOUR_MS,
    };
    const seen = new Set<string>();
    for (const { key, kind, value, expireIn } of fake.commits.flatMap(({ writes }) => writes)) {
      const name = String(key[0]);
      if (kind !== "set" || value === null) continue;
      if (name === "sig") assert.equal(expireIn, undefined);
      if (lives[name] === undefined) {
        assert.ok(expireIn === undefined || expireIn >= MARGIN_MS, `${name}: ${expireIn} ms`);
        continue;
      }
      seen.add(name);
      // What stands in the journal is counted from when the fake store sees it.
      const leastMs = lives[name] + MARGIN_MS - 10_000;
      assert.ok(expireIn! >= leastMs, `${name} expires after ${expireIn} ms`);
      assert.ok(expireIn! <= lives[name] + MARGIN_MS + 301_000, `${name}: ${expireIn} ms`);
    }
    assert.deepEqual([...seen].sort(), Object.keys(lives).sort());
    assert.ok(fake.commits.some(holdsSend));
  });
});

Deno.test("a counter that is summed never expires", async () => {
  await withRig(async ({ fake, alice, bob }) => {
    await alice.sent({ to: "bob", body: 1 });
    assertStatus(await bob.poll(), 200);
    const writes = fake.commits.flatMap((commit) => commit.writes);
    const summed = new Set(writes.filter(({ kind }) => kind === "sum").map(({ key }) => `${key}`));
    assert.ok(summed.size > 0);
    for (const { key, expireIn } of writes) {
      if (summed.has(`${key}`)) assert.equal(expireIn, undefined, `${key}`);
    }
  });
});

Deno.test("a send checks its number in the journal; on a shared store sender.out, recipient.in, its signature and the slot's owner", async () => {
  for (const shared of [false, true]) {
    await withRig(async ({ fake, relay, alice }) => {
      relay.clock.advance(700_000); // past what a former process may have accepted
      await alice.sent({ to: "bob", body: 1 });
      const checked = fake.commits.findLast(holdsSend)!.checks.map(({ key }) => key[0]);
      assert.deepEqual(checked.sort(), shared ? ["in", "out", "sig", "slot"] : ["journal"]);
    }, { config: { sharedStore: shared } });
  }
});

Deno.test("a repetition right after a start is found without a check in the commit on an exclusive store", async () => {
  await withRig(async ({ kv, fake, relay, alice }) => {
    const timestamp = relay.clock.seconds();
    const answer = await alice.send({ to: "bob", body: 1 }, { timestamp });
    assertStatus(answer, 201);
    const checked = fake.commits.findLast(holdsSend)!.checks.map(({ key }) => key[0]);
    assert.deepEqual(checked, ["journal"]);
    await relay.stop();
    await using later = await startTestRelay({ deps: { kv } });
    const again = await alice.at(later).send({ to: "bob", body: 1 }, { timestamp });
    assertStatus(again, 201);
    assert.equal(again.text, answer.text);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
  });
});

Deno.test("sends from many agents travel three to a commit where ten checks are the limit", async () => {
  await withRig(async ({ fake, relay }) => {
    const handles = Array.from({ length: 24 }, (_, i) => `agent_${i}`);
    const agents = await registerAgents(relay, ...handles);
    await Promise.all(
      agents.map((agent, i) => agent.sent({ to: handles[(i + 1) % 24]!, body: i })),
    );
    await Promise.all(
      agents.map((agent, i) => agent.sent({ to: handles[(i + 1) % 24]!, body: -i })),
    );
    const checks = fake.commits.filter(holdsSend).map((commit) => commit.checks.length);
    assert.ok(Math.max(...checks) <= 10);
    assert.ok(checks.includes(10), `${checks}`);
  }, {
    fake: { maxChecks: 10, delayMs: 2 },
    config: { sharedStore: true },
    relay: { capacity: { ...KV_CONNECT_CAPACITY, groupsInFlight: 1 } },
    limits: { registrationsPerIpPerHour: 100 },
  });
});

Deno.test("a flooded inbox does not starve its owner's sends", async () => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let toBob: Deno.KvKey = [];
  await withRig(async ({ kv, alice, bob }) => {
    toBob = ["in", await agentId(kv, "bob")];
    const flood = alice.send({ to: "bob", body: "flood" });
    await reached.promise;
    assertStatus(await bob.send({ to: "carol", body: "not starved" }), 201);
    held.resolve();
    assertStatus(await flood, 201);
  }, {
    fake: {
      async intercept(commit, run) {
        if (holdsSend(commit) && writes(commit, toBob)) {
          reached.resolve();
          await held.promise;
        }
        return await run();
      },
    },
  });
});

Deno.test("a send that was planned before another process banned somebody does not undo it", async () => {
  let ban: (() => Promise<void>) | null = null;
  await withRig(async ({ kv, alice, bob }) => {
    for (const [banned, refusal] of [["alice", "banned"], ["bob", "recipient_banned"]] as const) {
      await alice.sent({ to: "bob", body: "before" });
      ban = () => setBannedInStore(kv, banned, true);
      assertRefused(await alice.send({ to: "bob", body: "late" }), refusal);
      assert.equal(ban, null);
      const id = await agentId(kv, banned);
      for (const key of [inKey(id), outKey(id)]) {
        assert.equal((await kv.get<{ banned: boolean }>(key)).value!.banned, true);
      }
      await setBannedInStore(kv, banned, false);
      const answer = await (banned === "alice" ? bob : alice).send({ to: "carol", body: 1 });
      assertStatus(answer, 201);
    }
  }, {
    config: { sharedStore: true },
    fake: {
      async intercept(commit, run) {
        if (ban !== null && holdsSend(commit)) {
          const now = ban;
          ban = null;
          await now();
        }
        return await run();
      },
    },
  });
});

Deno.test("a send beside a ban of the same process is before it or refused, and does not undo it", async () => {
  const reached = Promise.withResolvers<void>();
  const whenReady = Promise.withResolvers<void>();
  let holds = true;
  await withRig(async ({ kv, relay, alice, bob }) => {
    const sent = alice.send({ to: "bob", body: "before" });
    await reached.promise; // the commit of the send is under way
    const ban = setBanned(relay, alice, true);
    whenReady.resolve();
    assertStatus(await sent, 201);
    await ban;
    assertRefused(await alice.send({ to: "bob", body: "late" }), "banned");
    const id = await agentId(kv, "alice");
    assert.equal((await storedRecord(kv, inKey(id))).value!.banned, true);
    const out = (await storedRecord(kv, outKey(id))).value!;
    assert.deepEqual([out.banned, out.head], [true, (await bob.inbox())[0]!.id]);
  }, {
    config: { adminToken: ADMIN_TOKEN },
    fake: {
      async intercept(commit, run) {
        if (holds && holdsSend(commit)) {
          holds = false;
          reached.resolve();
          await whenReady.promise;
        }
        return await run();
      },
    },
  });
});

Deno.test("a send of unknown outcome is stored once, however often it is repeated", async () => {
  let isOut = false;
  const tellsOutcome = ([first]: Deno.KvKey) => first === "sig" || first === "journal";
  const unreachable = () => Promise.reject(new TypeError("unreachable"));
  await withRig(async ({ kv, fake, relay, alice, bob }) => {
    relay.clock.advance(700_000);
    const { get, getMany } = fake;
    // The commit is applied, its answer lost, and the store out of reach for what comes next.
    fake.get = ((key: Deno.KvKey) => {
      return isOut && tellsOutcome(key) ? unreachable() : get(key);
    }) as typeof fake.get;
    fake.getMany = ((keys: Deno.KvKey[]) => {
      return isOut && keys.some(tellsOutcome) ? unreachable() : getMany(keys);
    }) as typeof fake.getMany;
    const body = toBytes({ to: "bob", body: "once" });
    const timestamp = relay.clock.seconds();
    const call = () => alice.call("POST", "/v1/messages", { body, timestamp });
    isOut = true;
    const unknown = await call();
    assert.ok(relay.logged.some(({ event }) => event === "store_write_failed"));
    assertRefused(unknown, "unavailable", /repeat the same request/);
    assert.notEqual(unknown.headers.get("retry-after"), null);
    isOut = false;
    const [one, two] = await Promise.all([call(), call()]);
    assertStatus(one, 201);
    assert.equal(one.text, two.text);
    assert.equal(one.headers.get("idempotent-replayed"), "true");
    // The mailboxes were kept until the store told what it has of them.
    const later = await alice.sent({ to: "bob", body: "later" });
    assert.deepEqual((await bob.inbox()).map(({ id }) => id), [later, one.json.id].sort());
    for (const key of [inKey(await agentId(kv, "bob")), outKey(await agentId(kv, "alice"))]) {
      assert.equal((await storedRecord<{ head: number }>(kv, key)).value!.head, later);
    }
  }, {
    relay: {
      capacity: EMBEDDED_CAPACITY,
      // Waited for once; what comes later has to be stored within it, on a busy machine too.
      queueBounds: { ...QUEUE_BOUNDS, giveUpAfterMs: 1_000, checkEveryMs: 50 },
    },
    fake: {
      async intercept(commit, run) {
        const isTold = commit.writes.every(({ key }) => key[0] === "journal"); // its number used up
        if (!isOut || !isTold && !holdsSend(commit)) return await run();
        if (!isTold) await run();
        throw new TypeError("error sending request");
      },
    },
  });
});

Deno.test("a waiting poll that has read too early is woken by what came meanwhile: it registers first", async () => {
  const read = Promise.withResolvers<void>();
  const whenReady = Promise.withResolvers<void>();
  await withRig(async ({ kv, fake, alice, bob }) => {
    const bobId = await agentId(kv, "bob");
    const { get } = fake;
    let isFirst = true;
    fake.get = (async (key: Deno.KvKey) => {
      const row = await get(key);
      if (key[0] === "in" && key[1] === bobId && isFirst) {
        isFirst = false;
        read.resolve();
        await whenReady.promise; // what it has read is old by now
      }
      return row;
    }) as typeof fake.get;
    const beganMs = performance.now();
    const waiting = bob.poll("wait=25");
    await read.promise;
    const id = await alice.sent({ to: "bob", body: "meanwhile" });
    whenReady.resolve();
    const answer = await waiting;
    assertStatus(answer, 200);
    assert.deepEqual(answer.json.messages.map((message: { id: number }) => message.id), [id]);
    assert.ok(performance.now() - beganMs < 5_000, "not by the ten-second round");
  }, { config: { sharedStore: true } });
});
