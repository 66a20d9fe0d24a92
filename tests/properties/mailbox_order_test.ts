/** Ids ascend in every inbox and outbox and are unique in the store; a walking poller misses nothing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { type Answer, assertStatus } from "../support/answer.ts";
import { TEST_START_MS } from "../support/clock.ts";
import { createFakeKv, type FakeKv, NO_FAULTS } from "../support/fake_kv.ts";
import { isLong } from "../support/long_test.ts";
import { propertyRuns, propertySeed } from "../support/property_runs.ts";
import {
  makeStoreFolder,
  startTestRelay,
  type TestRelay,
  type TestRelayOptions,
} from "../support/relay.ts";
import { registerAgents, type TestAgent } from "../support/test_agent.ts";

const LIMITS = {
  registrationsPerIpPerHour: 1_000,
  sendsPerAgentPerMinute: 100_000,
  inboxPollIntervalMs: 0,
};
const AGENTS = 4;

const scenarios = fc.record({
  sends: fc.array(
    fc.record({
      from: fc.nat(AGENTS - 1),
      to: fc.nat(AGENTS - 1),
      /** How often the same bytes go out at once. */
      copies: fc.constantFrom(1, 1, 1, 2, 3),
      large: fc.constantFrom(false, false, false, true),
      /** What the clock does before. */
      moveMs: fc.constantFrom(0, 0, 0, 0, 1, 7, 1_000, 30_000, -2_000, -20_000),
      /** Whether all before it is waited for. */
      pause: fc.constantFrom(false, false, false, false, true),
    }),
    { minLength: 30, maxLength: 60, size: "max" },
  ),
  limits: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: AGENTS, maxLength: AGENTS }),
});
type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;

/** The first answer that is no 503: where answers get lost a relay may say "repeat" to anything. */
async function answerOf(request: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1;; tries++) {
    const answer = await request();
    if (answer.status !== 503 || tries === 20) return answer;
  }
}

interface Walked {
  ids: number[];
  bodies: string[];
}

/** Reads a mailbox by since_id until nothing is to come any more. */
async function walk(
  agent: TestAgent,
  path: "/v1/inbox" | "/v1/outbox",
  limit: number,
  isOver: () => boolean,
): Promise<Walked> {
  const walked: Walked = { ids: [], bodies: [] };
  let sinceId = 0;
  for (;;) {
    const last = isOver();
    const query = `since_id=${sinceId}&limit=${limit}`;
    const answer = await answerOf(() => agent.call("GET", path, { query }));
    assertStatus(answer, 200);
    for (const { id, body } of answer.json.messages) {
      assert.ok(id > sinceId, "ascending");
      sinceId = id;
      walked.ids.push(id);
      walked.bodies.push(body);
    }
    assert.equal(answer.json.last_id, sinceId);
    if (last && answer.json.messages.length === 0) return walked;
  }
}

async function run(relays: readonly TestRelay[], { sends, limits }: Scenario): Promise<void> {
  const [first] = relays;
  const handles = Array.from({ length: AGENTS }, (_, i) => `agent_${i}`);
  const agents = await registerAgents(first!, ...handles);
  let sending = true;
  const walkAll = (path: "/v1/inbox" | "/v1/outbox") =>
    agents.map((agent, i) =>
      walk(agent.at(relays[i % relays.length]!), path, limits[i]!, () => !sending)
    );
  const walks = [walkAll("/v1/inbox"), walkAll("/v1/outbox")] as const;
  const accepted: { from: number; to: number; id: number; body: string }[] = [];
  let pending: Promise<void>[] = [];
  for (const [index, { from, to, copies, large, moveMs, pause }] of sends.entries()) {
    if (pause) await Promise.all(pending.splice(0));
    for (const relay of relays) relay.clock.advance(moveMs);
    const body = `${index}`.padEnd(large ? 60_000 : 1, ".");
    const timestamp = first!.clock.seconds();
    const copied = Array.from({ length: copies }, (_, copy) => {
      const sender = agents[from]!.at(relays[(index + copy) % relays.length]!);
      return answerOf(() => sender.send({ to: handles[to]!, body }, { timestamp }));
    });
    pending.push(
      Promise.all(copied).then((answers) => {
        for (const answer of answers) assertStatus(answer, 201);
        assert.equal(
          new Set(answers.map(({ text }) => text)).size,
          1,
          "one signature, one message",
        );
        accepted.push({ from, to, id: answers[0]!.json.id, body });
      }),
    );
  }
  await Promise.all(pending);
  pending = [];
  sending = false;
  const inboxes = await Promise.all(walks[0]);
  const outboxes = await Promise.all(walks[1]);

  assert.equal(new Set(accepted.map(({ id }) => id)).size, sends.length, "unique in the store");
  for (const [index, agent] of agents.entries()) {
    const byId = accepted.toSorted((a, b) => a.id - b.id);
    const received = byId.filter(({ to }) => to === index);
    assert.deepEqual(inboxes[index]!.ids, received.map(({ id }) => id), "nothing missed or twice");
    assert.deepEqual(inboxes[index]!.bodies, received.map(({ body }) => body));
    const sentIds = byId.filter(({ from }) => from === index).map(({ id }) => id);
    assert.deepEqual(outboxes[index]!.ids, sentIds, "nothing missed or twice in the outbox");
    const sent = await agent.outbox("limit=200");
    assert.deepEqual(sent.map(({ id }) => id), sentIds);
    assert.ok(sent.every(({ delivered_at }) => delivered_at !== null));
    const again = await agent.poll("limit=200");
    assert.deepEqual(again.json.messages.map(({ id }: { id: number }) => id), inboxes[index]!.ids);
    assert.deepEqual((await agent.poll("unread=true")).json.messages, []);
  }
}

interface Kind {
  options: TestRelayOptions;
  relays: number;
  runs: number;
  /** The store is a file, each relay with its own hold of it; in memory unless so. */
  isFile?: boolean;
  /** The store as one of the relays meets it. */
  meet?: (kv: Deno.Kv, relay: number) => FakeKv;
}

const FAULTS = { deniedSuccess: 0.05, lostAnswer: 0.05, locked: 0.1, repeated: 0.05 };

const KINDS: Record<string, Kind> = {
  "one relay on an exclusive store": { options: {}, relays: 1, runs: 6 },
  "one relay that reads every page from its store": {
    options: { relay: { recentMessages: { bytes: 0, messagesAnInbox: 0, messageBytes: 0 } } },
    relays: 1,
    runs: 4,
  },
  "one relay that has room for few messages": {
    options: {
      relay: { recentMessages: { bytes: 20_000, messagesAnInbox: 6, messageBytes: 8_000 } },
    },
    relays: 1,
    runs: 4,
  },
  "one relay on a shared store of ten checks a commit": {
    options: { config: { sharedStore: true }, relay: { capacity: KV_CONNECT_CAPACITY } },
    relays: 1,
    runs: 4,
  },
  "two relays on one store": { options: { config: { sharedStore: true } }, relays: 2, runs: 4 },
  "two relays on one file": {
    options: { config: { sharedStore: true } },
    relays: 2,
    runs: 2,
    isFile: true,
  },
  "two relays on a KV server whose answers get lost": {
    options: {
      config: { sharedStore: true, hosted: true },
      relay: { capacity: KV_CONNECT_CAPACITY },
    },
    relays: 2,
    runs: 3,
    meet: (kv, relay) => createFakeKv({ kv, seed: propertySeed() + relay, delayMs: 3 }),
  },
};

for (const [name, kind] of Object.entries(KINDS)) {
  Deno.test(`ids ascend and are unique, a walking poller misses nothing and sees nothing twice: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, (scenario) => runOn(kind, scenario)),
      propertyRuns(isLong ? kind.runs : Math.ceil(kind.runs / 3), false),
    );
  });
}

async function runOn({ options, relays, isFile, meet }: Kind, scenario: Scenario): Promise<void> {
  await using ended = new AsyncDisposableStack();
  const folder = isFile ? await makeStoreFolder() : undefined;
  if (folder) ended.defer(() => Deno.remove(folder.dir, { recursive: true }));
  const kv = ended.use(await Deno.openKv(folder?.kvPath ?? ":memory:"));
  const opened: TestRelay[] = [];
  for (let i = 0; i < relays; i++) {
    const met = meet?.(kv, i);
    const own = folder === undefined ? { deps: { kv: met ?? kv } } : { kvPath: folder.kvPath };
    // Clocks of hosts differ, and a later relay must not give lower ids for it.
    const clockStartMs = TEST_START_MS - 4_000 * i;
    const relay = await startTestRelay({ ...options, ...own, limits: LIMITS, clockStartMs });
    opened.push(ended.use(relay));
    if (met === undefined) continue;
    // Start and stop of a process are not what is tried here.
    ended.defer(() => void Object.assign(met.faults, NO_FAULTS));
    Object.assign(met.faults, FAULTS);
  }
  await run(opened, scenario);
}
