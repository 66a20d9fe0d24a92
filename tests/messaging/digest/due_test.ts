import assert from "node:assert/strict";
import type { Config } from "../../../server/base/config/config.ts";
import { assertStatus } from "../../support/answer.ts";
import { askAdmin } from "../../support/figures.ts";
import { parseMail, startSmtpServer, type TestSmtpServer } from "../../support/smtp_server.ts";
import type { TestAgent } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";
import {
  type DigestBench,
  headlineOf,
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
      mails: async () => (await Promise.all(smtp.received.map(parseMail))).map(headlineOf),
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

digestTest("no digest tells of what was purged, not after an unban either", async (scene) => {
  const { bench, alice, write, mails } = scene;
  const admin = async (verb: "ban" | "purge" | "unban") => {
    const answer = await askAdmin(bench.relay, verb, alice.address, ADMIN_TOKEN);
    assertStatus(answer, verb === "purge" ? 202 : 200);
  };
  await write();
  await admin("ban");
  await admin("purge");
  await bench.relay.relay.crons.figures!(); // waits for the purge
  await bench.sweepAfter(5 * MINUTE_MS);
  await admin("unban");
  await bench.sweepAfter(5 * MINUTE_MS);
  assert.deepEqual(await mails(), []);
  await write();
  await bench.sweep();
  assert.deepEqual(await mails(), ["1 unread message for @bob"]);
}, { config: { adminToken: ADMIN_TOKEN } });
