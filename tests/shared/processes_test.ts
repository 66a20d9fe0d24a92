import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { setBanned } from "../support/ban_in_store.ts";
import { isLong } from "../support/long_test.ts";
import { type RelayProcesses, startRelayProcesses } from "../support/relay_processes.ts";
import { registerAgent, TestAgent, toBytes } from "../support/test_agent.ts";
import { runTraffic, TRAFFIC_LIMITS } from "../support/traffic.ts";

/** Each is sent much by all, to many mailboxes and to one. */
async function loseAndDoubleNothing({ targets }: RelayProcesses): Promise<void> {
  const many = { agents: 8, sendsAnAgent: isLong ? 40 : 15, toAllPercent: 20 };
  await runTraffic(targets, { seed: targets.length, width: 2, ...many });
  const one = { agents: 6, sendsAnAgent: isLong ? 30 : 12, recipients: 1 };
  await runTraffic(targets, { seed: 10 + targets.length, width: 2, ...one });
}

Deno.test("2 processes on one file, without limits", async (t) => {
  await using processes = await startRelayProcesses(2, { limits: TRAFFIC_LIMITS });
  await t.step(
    "they lose and double nothing, in order, in many mailboxes or one",
    () => loseAndDoubleNothing(processes),
  );
  await t.step(
    "a ban written by another process is in force at every process at once",
    async () => {
      const [a, b] = [processes.targets[0]!, processes.targets[1]!];
      const alice = await registerAgent(a, "alice");
      const bob = await registerAgent(a, "bob");
      const body = toBytes({ to: "bob", body: "before" });
      const timestamp = a.clock.seconds();
      const sendAt = (target: typeof a) =>
        alice.at(target).call("POST", "/v1/messages", { body, timestamp });
      const accepted = await sendAt(a);
      assertStatus(accepted, 201);
      assertStatus(await alice.at(b).send({ to: "bob", body: "warms the other's memory" }), 201);

      await processes.withKv((kv) => setBanned(kv, "alice", true));
      for (const target of processes.targets) {
        assertRefused(await alice.at(target).send({ to: "bob", body: "banned" }), "banned");
        // A ban comes before the repetition of an answer, and before what is wrong with a request.
        assertRefused(await sendAt(target), "banned");
        assertRefused(await alice.at(target).send({ to: "nobody_here", body: 1 }), "banned");
        assertRefused(await alice.at(target).send("not json"), "banned");
        assertRefused(await bob.at(target).send({ to: "alice", body: "?" }), "recipient_banned");
        assertStatus(await alice.at(target).poll(), 200);
      }
      await processes.withKv((kv) => setBanned(kv, "alice", false));
      for (const target of processes.targets) {
        const replayed = await sendAt(target);
        assertStatus(replayed, 201);
        assert.equal(replayed.json.id, accepted.json.id);
        assert.equal(replayed.headers.get("idempotent-replayed"), "true");
        assertStatus(await alice.at(target).send({ to: "bob", body: "back" }), 201);
        assertStatus(await bob.at(target).send({ to: "alice", body: "welcome" }), 201);
      }
    },
  );
});

Deno.test("4 processes on one file, without limits", async (t) => {
  await using processes = await startRelayProcesses(4, { limits: TRAFFIC_LIMITS });
  await t.step(
    "they lose and double nothing, in order, in many mailboxes or one",
    () => loseAndDoubleNothing(processes),
  );
  await t.step("one signed request sent to 4 processes at once is stored once", async () => {
    const [alice, bob] = [
      await registerAgent(processes.targets[0]!, "alice"),
      await registerAgent(processes.targets[1]!, "bob"),
    ];
    for (let round = 0; round < 10; round++) {
      const body = toBytes({ to: "bob", body: `round ${round}` });
      const timestamp = processes.targets[0]!.clock.seconds();
      const answers = await Promise.all(
        processes.targets.flatMap((target) =>
          [1, 2, 3].map(() => alice.at(target).call("POST", "/v1/messages", { body, timestamp }))
        ),
      );
      for (const answer of answers) assertStatus(answer, 201);
      const ids = new Set(answers.map(({ json }) => json.id));
      assert.equal(ids.size, 1);
      // Exactly one answer is of a new message.
      const replayed = answers.filter(({ headers }) => headers.has("idempotent-replayed"));
      assert.equal(replayed.length, answers.length - 1);
    }
    const inbox = await bob.at(processes.targets[0]!).poll("limit=200");
    assert.equal(inbox.json.messages.length, 10);
  });
  await t.step(
    "a handle and a key registered at all processes at once belong to one agent",
    async () => {
      for (let round = 0; round < 5; round++) {
        const handle = `wanted_${round}`;
        const answers = await Promise.all(
          processes.targets.map((target) => new TestAgent(target).askToRegister({ handle })),
        );
        const statuses = answers.map(({ status }) => status).sort();
        assert.deepEqual(statuses, [201, 409, 409, 409]);
        const keys = new TestAgent(processes.targets[0]!).keys;
        const sameKey = await Promise.all(
          processes.targets.map((target, i) =>
            new TestAgent(target, keys).askToRegister({ handle: `key_${round}_${i}` })
          ),
        );
        assert.deepEqual(sameKey.map(({ status }) => status).sort(), [201, 409, 409, 409]);
      }
    },
  );
});

Deno.test("the registration limit of one address and the send limit of one agent hold over 4 processes", async () => {
  await using processes = await startRelayProcesses(4);
  const agents = Array.from({ length: 12 }, (_, i) => new TestAgent(processes.targets[i % 4]!));
  const registered = await Promise.all(
    agents.map((agent, i) => agent.askToRegister({ handle: `agent_${i}` })),
  );
  for (const answer of registered) {
    if (answer.status !== 201) assertRefused(answer, "rate_limited", /5 registrations/);
  }
  const accepted = registered.filter(({ status }) => status === 201);
  assert.equal(accepted.length, 5);
  const sender = agents[registered.indexOf(accepted[0]!)]!;
  const to = accepted[1]!.json.handle;
  const answers = await Promise.all(Array.from({ length: 90 }, (_, i) => {
    return sender.at(processes.targets[i % 4]!).send({ to, body: i });
  }));
  for (const answer of answers) {
    if (answer.status !== 201) assertRefused(answer, "rate_limited", /at most 60 messages/);
  }
  assert.equal(answers.filter(({ status }) => status === 201).length, 60);
});

Deno.test("2 processes on one file", async (t) => {
  await using processes = await startRelayProcesses(2);
  await t.step("the poll floor and delivered_at hold over processes", async () => {
    const alice = await registerAgent(processes.targets[0]!, "alice");
    const bob = await registerAgent(processes.targets[1]!, "bob");
    const id = await alice.sent({ to: "bob", body: "hello" });
    const polls = await Promise.all(processes.targets.map((target) => bob.at(target).poll()));
    assert.deepEqual(polls.map(({ status }) => status).sort(), [200, 429]);
    const refused = polls.find(({ status }) => status === 429)!;
    assertRefused(refused, "rate_limited");
    assert.ok(refused.json.retry_after_ms <= 2000);
    const [first, second] = await Promise.all(
      processes.targets.map((target) => alice.at(target).outbox()),
    );
    assert.equal(first![0].id, id);
    assert.notEqual(first![0].delivered_at, null);
    assert.equal(second![0].delivered_at, first![0].delivered_at);
  });
  await t.step(
    "an owner_token rotated at one process is dead at the other, and rotates there too",
    async () => {
      const [a, b] = [processes.targets[0]!, processes.targets[1]!];
      const alice = await registerAgent(a, "rotating");
      let token = alice.ownerToken;
      for (const [round, [here, there]] of ([[a, b], [b, a], [a, b]] as const).entries()) {
        assertStatus(await alice.at(there).bearer("GET", "/v1/whoami", { token }), 200);
        // The body is ignored, and makes each a signature of its own within one second.
        const rotated = await alice.at(here).call("POST", "/v1/owner-token", { body: `${round}` });
        assertStatus(rotated, 201);
        for (const target of processes.targets) {
          assertRefused(
            await alice.at(target).bearer("GET", "/v1/whoami", { token }),
            "unknown_token",
          );
        }
        token = rotated.json.owner_token;
        assertStatus(await alice.at(there).bearer("GET", "/v1/whoami", { token }), 200);
      }
    },
  );
  await t.step(
    "a process that is told to stop gives its slot back and ends its waiting polls, the other serves on",
    async () => {
      const [a, b] = [processes.targets[0]!, processes.targets[1]!];
      const alice = await registerAgent(a, "waiting");
      const first = await alice.sent({ to: "waiting", body: 1 });
      const waiting = alice.poll(`wait=25&since_id=${first}`);
      await processes.polled("waiting");
      assert.equal((await processes.relays[0]!.terminate()).code, 0);
      const ended = await waiting;
      assertStatus(ended, 200);
      assert.deepEqual(ended.json, { messages: [], last_id: first });
      const owners = await processes.withKv((kv) => Array.fromAsync(kv.list({ prefix: ["slot"] })));
      const held = owners.filter(({ key }) => key[2] === "owner").map(({ key }) => Number(key[1]));
      assert.equal(held.length, 1);
      const second = await alice.at(b).sent({ to: "waiting", body: 2 });
      assert.equal(second % 256, held[0]);
      assert.ok(second > first);
    },
  );
});
