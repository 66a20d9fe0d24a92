/** The shared mode on a real KV server: runs where denokv is on PATH or DENOKV_BIN names it. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { findKvServer, type KvServer, startKvServer } from "../support/kv_server.ts";
import { delay } from "../support/pace.ts";
import { type SpawnedRelay, spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent, type Target, toBytes } from "../support/test_agent.ts";
import { realTarget, runTraffic, TRAFFIC_LIMITS } from "../support/traffic.ts";

const program = findKvServer();

interface Rig {
  server: KvServer;
  relays: SpawnedRelay[];
  targets: Target[];
}

function kvServerTest(name: string, size: number, body: (rig: Rig) => Promise<void>): void {
  Deno.test({
    name: `${name} (needs denokv)`,
    ignore: program === null,
    fn: async () => {
      await using server = await startKvServer(program!);
      await using relays = new AsyncDisposableStack();
      const opened: SpawnedRelay[] = [];
      for (let i = 0; i < size; i++) {
        const env = { ...server.env, RELAY_LIMITS: JSON.stringify(TRAFFIC_LIMITS) };
        opened.push(relays.use(await spawnRelay({ env })));
      }
      const targets = opened.map(({ url }) => realTarget(url));
      await body({ server, relays: opened, targets });
    },
  });
}

kvServerTest("three processes on a KV server lose and double nothing, in order", 3, async (rig) => {
  await runTraffic(rig.targets, {
    seed: 30,
    agents: 8,
    sendsAnAgent: 40,
    width: 4,
    toAllPercent: 20,
  });
});

kvServerTest("one hot mailbox on a KV server loses and doubles nothing", 2, async (rig) => {
  await runTraffic(rig.targets, {
    seed: 31,
    agents: 6,
    sendsAnAgent: 25,
    width: 2,
    recipients: 1,
  });
});

kvServerTest(
  "a waiting poll is woken by another process through the server's watch",
  2,
  async (rig) => {
    const [a, b] = rig.targets as [Target, Target];
    const alice = await registerAgent(a, "alice");
    const bob = await registerAgent(b, "bob");
    for (let round = 0; round < 3; round++) {
      const waiting = bob.poll("wait=25&unread=true");
      await delay(400);
      const beganMs = performance.now();
      const id = await alice.sent({ to: "bob", body: { round } });
      const answer = await waiting;
      assertStatus(answer, 200);
      assert.deepEqual(answer.json.messages.map((message: { id: number }) => message.id), [id]);
      assert.ok(performance.now() - beganMs < 1_500);
    }
  },
);

kvServerTest("one signed request at all processes at once is one message", 3, async (rig) => {
  const alice = await registerAgent(rig.targets[0]!, "alice");
  await registerAgent(rig.targets[1]!, "bob");
  for (let round = 0; round < 5; round++) {
    const body = toBytes({ to: "bob", body: `round ${round}` });
    const timestamp = rig.targets[0]!.clock.seconds();
    const answers = await Promise.all(
      rig.targets.map((target) =>
        alice.at(target).call("POST", "/v1/messages", { body, timestamp })
      ),
    );
    for (const answer of answers) assertStatus(answer, 201);
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  }
});

kvServerTest(
  "a KV server that dies is survived: 503 meanwhile, everything after",
  2,
  async (rig) => {
    const [a, b] = rig.targets as [Target, Target];
    const alice = await registerAgent(a, "alice");
    const bob = await registerAgent(b, "bob");
    const before = await alice.sent({ to: "bob", body: "before" });
    const waiting = bob.poll(`wait=25&since_id=${before}`);
    await delay(300);
    await rig.server.kill();
    const body = toBytes({ to: "bob", body: "while it is gone" });
    const timestamp = a.clock.seconds();
    const send = () => alice.call("POST", "/v1/messages", { body, timestamp });
    const meanwhile = send();
    await delay(500);
    await rig.server.start();
    const first = await meanwhile;
    if (first.status !== 201) assertRefused(first, "unavailable");
    let answer = await send();
    for (let tries = 0; answer.status === 503 && tries < 30; tries++) {
      await delay(300);
      answer = await send();
    }
    assertStatus(answer, 201);
    const woken = await waiting;
    assertStatus(woken, 200);
    assert.deepEqual(
      woken.json.messages.map((message: { id: number }) => message.id),
      [answer.json.id],
    );
  },
);

kvServerTest(
  "a KV server that is away for 20 s loses and doubles nothing",
  2,
  async (rig) => {
    const senders = await Promise.all(
      Array.from({ length: 6 }, (_, i) => registerAgent(rig.targets[i % 2]!, `sender_${i}`)),
    );
    const reader = await registerAgent(rig.targets[0]!, "reader");
    const acknowledged = new Map<number, string>();
    const refusalsMs: number[] = [];
    let isOver = false;
    /** Sends on and on, each request until it is acknowledged. */
    const traffic = senders.map(async (sender, who) => {
      for (let n = 0; !isOver; n++) {
        const text = `${who}/${n}`;
        const options = {
          body: toBytes({ to: "reader", body: text }),
          timestamp: rig.targets[0]!.clock.seconds(),
        };
        for (;;) {
          const beganMs = performance.now();
          const answer = await sender.call("POST", "/v1/messages", options);
          if (answer.status === 201) {
            acknowledged.set(answer.json.id, text);
            break;
          }
          assertRefused(answer, "unavailable");
          refusalsMs.push(performance.now() - beganMs);
          await delay(500);
        }
        await delay(100);
      }
    });
    await delay(1_000);
    await rig.server.kill();
    await delay(20_000);
    await rig.server.start();
    await delay(5_000);
    isOver = true;
    await Promise.all(traffic);
    assert.ok(refusalsMs.length >= senders.length, `${refusalsMs.length} were refused`);
    const longestMs = Math.max(...refusalsMs);
    assert.ok(longestMs <= 15_000 + 1_000, `answered after ${longestMs} ms`);
    const found = new Map<number, string>();
    for (let since = 0;;) {
      const messages = await reader.inbox(`since_id=${since}&limit=100`);
      if (messages.length === 0) break;
      for (const { id, body } of messages) found.set(id, body);
      assert.ok(messages.at(-1).id > since);
      since = messages.at(-1).id;
    }
    const inOrder = (of: Map<number, string>) => [...of].sort(([a], [b]) => a - b);
    assert.deepEqual(inOrder(found), inOrder(acknowledged));
  },
);
