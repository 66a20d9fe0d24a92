import assert from "node:assert/strict";
import type { Config } from "../../server/config.ts";
import { assertStatus } from "../support/answer.ts";
import { createFakeKv } from "../support/fake_kv.ts";
import { parseMail, startSmtpServer, type TestSmtpServer } from "../support/smtp_server.ts";
import type { TestAgent } from "../support/test_agent.ts";
import { ToolAgent } from "../support/tool_client.ts";
import {
  type DigestBench,
  HOUR_MS,
  MINUTE_MS,
  setEmail,
  startDigestBench,
} from "./digest_bench.ts";

const READER = "reader@example.net";
const ADMIN_TOKEN = "admin-token-of-thirty-two-characters";

interface Scene {
  smtp: TestSmtpServer;
  bench: DigestBench;
  bob: TestAgent;
  alice: TestAgent;
  /** Alice writes to bob, one second after whatever was before. */
  write(): Promise<void>;
  /** Subjects of what has arrived. */
  mails(): Promise<(string | undefined)[]>;
}

function digestTest(
  name: string,
  test: (scene: Scene) => Promise<void>,
  options: {
    shared?: boolean;
    limits?: Record<string, number>;
    config?: Partial<Config>;
  } = {},
): void {
  Deno.test(name, async () => {
    await using smtp = await startSmtpServer();
    await using bench = await startDigestBench({
      smtpPort: smtp.port,
      relay: {
        limits: options.limits,
        config: { sharedStore: options.shared ?? false, ...options.config },
      },
    });
    const bob = await bench.agent("bob", READER);
    const alice = await bench.agent("alice");
    await test({
      smtp,
      bench,
      bob,
      alice,
      async write() {
        bench.relay.clock.advance(1_000);
        await alice.sent({ to: "bob", body: "hello" });
      },
      mails: async () =>
        (await Promise.all(smtp.received.map(parseMail))).map(({ subject }) => subject),
    });
  });
}

digestTest("no digest without a message", async ({ bench, mails }) => {
  await bench.sweepAfter(7 * HOUR_MS);
  assert.deepEqual(await mails(), []);
});

digestTest("no digest without an address", async ({ bench, bob, alice, mails }) => {
  await setEmail(bob, null);
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "bob", body: "hello" });
  await bob.sent({ to: "alice", body: "hello" });
  await bench.sweepAfter(5 * MINUTE_MS);
  assert.deepEqual(await mails(), []);
});

digestTest("a message after the address was set is told at the next sweep, once", async (scene) => {
  const { bench, write, mails } = scene;
  await write();
  await bench.sweep();
  assert.deepEqual(await mails(), ["1 unread message for @bob"]);
  for (let sweep = 0; sweep < 5; sweep++) await bench.sweepAfter(2 * HOUR_MS);
  assert.equal((await mails()).length, 1, "nothing new came");
});

digestTest("a message from before the address was set makes no digest due", async (scene) => {
  const { bench, bob, write, mails } = scene;
  await setEmail(bob, null);
  await write();
  bench.relay.clock.advance(1_000);
  await setEmail(bob, "other@example.net");
  await bench.sweepAfter(MINUTE_MS);
  assert.deepEqual(await mails(), []);
});

digestTest("the same address set again does not forget what is due", async (scene) => {
  const { bench, bob, write, mails } = scene;
  await write();
  bench.relay.clock.advance(1_000);
  await setEmail(bob, READER);
  await bench.sweep();
  assert.equal((await mails()).length, 1);
});

digestTest("a delivered message makes no digest due", async ({ bench, bob, write, mails }) => {
  await write();
  assert.equal((await bob.inbox()).length, 1);
  await bench.sweepAfter(MINUTE_MS);
  assert.deepEqual(await mails(), []);
});

digestTest(
  "a poll later than the message makes it no digest, though it fetched nothing",
  async (scene) => {
    const { bench, bob, write, mails } = scene;
    await write();
    assert.deepEqual(await bob.inbox(`since_id=${2 ** 53 - 1}`), []);
    await bench.sweepAfter(MINUTE_MS);
    assert.deepEqual(await mails(), []);
    // A message after that poll counts, and with it all that was never delivered.
    await write();
    await bench.sweep();
    assert.deepEqual(await mails(), ["2 unread messages for @bob"]);
  },
);

digestTest("a refused poll is none", async ({ bench, bob, write, mails }) => {
  await bob.inbox();
  await write(); // one second after the poll
  assert.equal((await bob.poll()).status, 429);
  await bench.sweep();
  assert.equal((await mails()).length, 1);
});

digestTest("HEAD is no poll", async ({ bench, bob, write, mails }) => {
  await write();
  bench.relay.clock.advance(2_000);
  assert.equal((await bob.call("HEAD", "/v1/inbox")).status, 200);
  await bench.sweep();
  assert.equal((await mails()).length, 1);
});

digestTest(
  "a poll by owner_token counts like a signed one",
  async ({ bench, bob, write, mails }) => {
    await write();
    bench.relay.clock.advance(2_000);
    const since = `since_id=${2 ** 53 - 1}`;
    assert.equal((await bob.bearer("GET", "/v1/inbox", { query: since })).status, 200);
    await bench.sweepAfter(MINUTE_MS);
    assert.deepEqual(await mails(), []);
  },
);

digestTest("a poll by the tool check_inbox counts too", async ({ bench, alice, mails }) => {
  const carol = await ToolAgent.register(bench.relay.url, "carol");
  await carol.done("update_profile", { notification_email: "carol@example.net" });
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "carol", body: "hello" });
  bench.relay.clock.advance(2_000);
  await carol.done("check_inbox", { since: 2 ** 53 - 1 });
  await bench.sweepAfter(MINUTE_MS);
  assert.deepEqual(await mails(), []);
  await alice.sent({ to: "carol", body: "hello again" });
  await bench.sweep();
  assert.deepEqual(await mails(), ["2 unread messages for @carol"]);
});

digestTest("on a shared store a recorded poll counts too", async ({ bench, bob, write, mails }) => {
  await write();
  assert.deepEqual(await bob.inbox(`since_id=${2 ** 53 - 1}`), []);
  await bench.sweepAfter(MINUTE_MS);
  assert.deepEqual(await mails(), []);
  await write();
  await bench.sweep();
  assert.equal((await mails()).length, 1);
}, { shared: true });

digestTest("the next digest comes 6 hours after the last, not before", async (scene) => {
  const { bench, write, mails } = scene;
  await write();
  await bench.sweep();
  await write();
  await bench.sweepAfter(5 * MINUTE_MS);
  await bench.sweepAfter(6 * HOUR_MS - 5 * MINUTE_MS - 1_001);
  assert.equal((await mails()).length, 1, "one millisecond too early");
  await bench.sweepAfter(1);
  assert.deepEqual(await mails(), ["1 unread message for @bob", "2 unread messages for @bob"]);
});

digestTest("6 hours after a digest nothing is told that was told", async (scene) => {
  const { bench, bob, write, mails } = scene;
  await write();
  await bench.sweep();
  await write();
  await bench.sweepAfter(5 * MINUTE_MS); // parked until the 6 hours are over
  assert.equal((await bob.inbox()).length, 2);
  await bench.sweepAfter(7 * HOUR_MS);
  assert.equal((await mails()).length, 1);
});

digestTest("the interval is the agent's: a changed address does not shorten it", async (scene) => {
  const { bench, bob, smtp, write } = scene;
  await write();
  await bench.sweep();
  await setEmail(bob, "other@example.net");
  await write();
  await bench.sweepAfter(HOUR_MS);
  assert.equal(smtp.received.length, 1);
  await bench.sweepAfter(5 * HOUR_MS);
  assert.deepEqual(smtp.received.map(({ to }) => to[0]), [READER, "other@example.net"]);
});

digestTest("RELAY_LIMITS digestIntervalHours sets the interval", async (scene) => {
  const { bench, write, mails } = scene;
  await write();
  await bench.sweep();
  await write();
  await bench.sweepAfter(HOUR_MS - 1_001);
  assert.equal((await mails()).length, 1);
  await bench.sweepAfter(1);
  assert.equal((await mails()).length, 2);
}, { limits: { digestIntervalHours: 1 } });

digestTest("an expired message makes no digest due", async ({ bench, write, mails }) => {
  await write();
  await bench.sweepAfter(30 * 24 * HOUR_MS);
  assert.deepEqual(await mails(), []);
});

digestTest("an expired message is not counted", async ({ bench, write, mails }) => {
  await write();
  bench.relay.clock.advance(30 * 24 * HOUR_MS);
  await write();
  await bench.sweep();
  assert.deepEqual(await mails(), ["1 unread message for @bob"]);
});

digestTest("a clock that was ahead by a day does not silence digests", async (scene) => {
  const { bench, write, mails } = scene;
  bench.relay.clock.advance(24 * HOUR_MS);
  await write();
  await bench.sweep();
  bench.relay.clock.advance(-24 * HOUR_MS);
  await write();
  await bench.sweep();
  assert.equal((await mails()).length, 2);
});

digestTest(
  "a banned agent gets no digest, and after the unban what is still due",
  async (scene) => {
    const { bench, bob, write, mails } = scene;
    await write();
    await setBanned(bob, true);
    for (let i = 0; i < 3; i++) await bench.sweepAfter(5 * MINUTE_MS);
    assert.deepEqual(await mails(), []);
    await setBanned(bob, false);
    await bench.sweepAfter(5 * MINUTE_MS);
    assert.deepEqual(await mails(), ["1 unread message for @bob"]);
  },
  { config: { adminToken: ADMIN_TOKEN } },
);

digestTest("messages of a sender banned since are told all the same", async (scene) => {
  const { bench, alice, write, mails } = scene;
  await write();
  await setBanned(alice, true);
  await bench.sweep();
  assert.deepEqual(await mails(), ["1 unread message for @bob"]);
}, { config: { adminToken: ADMIN_TOKEN } });

async function setBanned(agent: TestAgent, banned: boolean): Promise<void> {
  const path = `/v1/admin/${banned ? "ban" : "unban"}`;
  const body = { pubkey: agent.address };
  assertStatus(await agent.bearer("POST", path, { body, token: ADMIN_TOKEN }), 200);
}

Deno.test("an address gets at most 4 digests in 6 hours, the longest waiting agents first", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const alice = await bench.agent("alice");
  const handles = ["one", "two", "three", "four", "five", "six"];
  const readers: TestAgent[] = [];
  for (const handle of handles) readers.push(await bench.agent(handle, "Shared@example.net"));
  const told = async () =>
    (await Promise.all(smtp.received.map(parseMail))).map(({ subject }) => subject!.split("@")[1]);

  // "two" and "three" had theirs an hour before, three later than two.
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "two", body: "hello" });
  await bench.sweep();
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "three", body: "hello" });
  await bench.sweep();
  assert.deepEqual(await told(), ["two", "three"]);
  smtp.received.length = 0;

  bench.relay.clock.advance(6 * HOUR_MS);
  await setEmail(readers[5]!, "shared@EXAMPLE.net"); // the same mailbox, spelled otherwise
  bench.relay.clock.advance(1_000);
  for (const to of handles) await alice.sent({ to, body: "hello" });
  await bench.sweep();
  assert.deepEqual((await told()).sort(), ["five", "four", "one", "six"], "none before: first");
  smtp.received.length = 0;

  for (let hour = 0; hour < 5; hour++) await bench.sweepAfter(HOUR_MS);
  assert.deepEqual(await told(), []);
  await bench.sweepAfter(HOUR_MS);
  assert.deepEqual((await told()).sort(), ["three", "two"]);
});

Deno.test("one share left goes to the agent whose last digest is oldest", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const alice = await bench.agent("alice");
  const handles = ["old_one", "young_one", "new_a", "new_b", "new_c"];
  for (const handle of handles) await bench.agent(handle, "shared@example.net");
  const write = async (to: string) => {
    bench.relay.clock.advance(1_000);
    await alice.sent({ to, body: "hello" });
  };
  await write("old_one");
  await bench.sweep();
  await bench.sweepAfter(HOUR_MS);
  await write("young_one");
  await bench.sweep();
  bench.relay.clock.advance(6 * HOUR_MS);
  for (const to of ["new_a", "new_b", "new_c"]) await write(to);
  await bench.sweep();
  assert.equal(smtp.received.length, 5);
  await write("young_one");
  await write("old_one");
  await bench.sweep();
  assert.equal(smtp.received.length, 6);
  assert.match((await parseMail(smtp.received[5]!)).subject!, /@old_one$/);
});

Deno.test("a store that answers badly neither loses nor doubles a digest", async () => {
  await using smtp = await startSmtpServer();
  const kv = await Deno.openKv(":memory:");
  const faults = { deniedSuccess: 0.1, lostAnswer: 0.05, locked: 0.1, repeated: 0.1 };
  const fake = createFakeKv({ kv, seed: 7, faults: {} });
  await using bench = await startDigestBench({
    smtpPort: smtp.port,
    relay: { config: { sharedStore: true }, deps: { kv: fake } },
  });
  const handles = Array.from({ length: 12 }, (_, i) => `reader_${i}`);
  const alice = await bench.agent("alice");
  for (const handle of handles) await bench.agent(handle, `${handle}@example.net`);
  bench.relay.clock.advance(1_000);
  for (const to of handles) await alice.sent({ to, body: "hello" });
  const bad = createFakeKv({ kv, seed: 7, faults });
  Object.assign(fake, { atomic: bad.atomic });
  // A failed cron, a lost lease: the next ones make up for it.
  for (let i = 0; i < 24; i++) await bench.sweepAfter(5 * MINUTE_MS);
  assert.ok(Object.values(bad.played).every((times) => times > 0), JSON.stringify(bad.played));
  assert.deepEqual(
    smtp.received.map(({ to }) => to[0]).sort(),
    handles.map((handle) => `${handle}@example.net`).sort(),
  );
  await bench[Symbol.asyncDispose]();
  kv.close();
});

Deno.test("a sweep costs as much for many agents as for few, when as many are due", async () => {
  async function readsOfSweep(agents: number): Promise<number> {
    await using smtp = await startSmtpServer();
    const plain = await Deno.openKv(":memory:");
    const { kv, reads } = countReads(plain);
    await using bench = await startDigestBench({ smtpPort: smtp.port, relay: { deps: { kv } } });
    for (let i = 0; i < agents; i++) await bench.agent(`idle_${i}`, `idle_${i}@example.net`);
    const bob = await bench.agent("bob", READER);
    bench.relay.clock.advance(1_000);
    await bob.sent({ to: "bob", body: "hello" });
    const before = reads();
    await bench.sweep();
    assert.equal(smtp.received.length, 1);
    const spent = reads() - before;
    await bench[Symbol.asyncDispose]();
    plain.close();
    return spent;
  }
  const few = await readsOfSweep(2);
  assert.ok(few > 0);
  assert.equal(await readsOfSweep(60), few);
});

/** A store that counts the rows it gives. */
function countReads(kv: Deno.Kv): { kv: Deno.Kv; reads: () => number } {
  let reads = 0;
  const counting = new Proxy(kv, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name === "list") {
        return async function* (...args: Parameters<Deno.Kv["list"]>) {
          for await (const row of target.list(...args)) {
            reads++;
            yield row;
          }
        };
      }
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (name === "get") reads++;
        if (name === "getMany") reads += (args[0] as unknown[]).length;
        return value.apply(target, args);
      };
    },
  });
  return { kv: counting, reads: () => reads };
}
