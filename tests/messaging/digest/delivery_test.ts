import assert from "node:assert/strict";
import type { SmtpTiming } from "../../../server/base/mailer/smtp_mailer.ts";
import { listDeadLetters } from "../../../server/base/outgoing/dead_letters.ts";
import { storeOn } from "../../support/store_on.ts";
import {
  type ScriptedSmtp,
  type SmtpFault,
  type SmtpStep,
  startScriptedSmtp,
} from "../../support/scripted_smtp.ts";
import type { TestAgent } from "../../support/test_agent.ts";
import {
  type DigestBench,
  HOUR_MS,
  MINUTE_MS,
  setEmail,
  startDigestBench,
} from "./digest_bench.ts";

const READER = "reader@example.net";

interface Scene {
  smtp: ScriptedSmtp;
  bench: DigestBench;
  bob: TestAgent;
  alice: TestAgent;
  write(): Promise<void>;
  /** Moves the clock second by second, as the tick sees it, and delivers what is due. */
  pass(ms: number): Promise<void>;
  dead(): Promise<string[]>;
}

/** For a next hop that says nothing at a step: short enough to wait for there. */
function impatientAt(step: SmtpStep): Partial<SmtpTiming> {
  return step === "content" ? { finalReplyMs: 500 } : { replyMs: 1_500 };
}

function deliveryTest(
  name: string,
  test: (scene: Scene) => Promise<void>,
  timing: Partial<SmtpTiming> = {},
): void {
  Deno.test(name, async () => {
    await using smtp = startScriptedSmtp();
    await using bench = await startDigestBench({ smtpPort: smtp.port, timing });
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
      async pass(ms) {
        bench.relay.clock.advance(ms);
        await bench.deliver();
      },
      dead: async () =>
        (await listDeadLetters(storeOn(bench.relay.deps.kv), 10)).map(({ reason }) => reason),
    });
  });
}

const refusals: [SmtpStep, SmtpFault][] = [
  ["greeting", { reply: "421 busy" }],
  ["greeting", { reply: "554 not today" }],
  ["greeting", "cut"],
  ["greeting", "silence"],
  ["EHLO", "cut"],
  ["MAIL", { reply: "451 later" }],
  ["MAIL", { reply: "550 no" }],
  ["RCPT", { reply: "450 later" }],
  ["RCPT", { reply: "550 no such user" }],
  ["RCPT", "silence"],
  ["DATA", { reply: "452 full" }],
  ["DATA", "cut"],
  ["content", { reply: "451 later" }],
  ["content", { reply: "554 no" }],
];
for (const [step, fault] of refusals) {
  const what = typeof fault === "string" ? fault : fault.reply;
  deliveryTest(
    `a digest that ${what} at ${step} refused arrives within 5 minutes, once`,
    async (scene) => {
      const { smtp, bench, write, pass, dead } = scene;
      smtp.script({ [step]: fault });
      await write();
      await bench.sweep();
      const refused = smtp.contents.length; // whole, and answered with a refusal
      assert.equal(bench.events("outgoing_retry").length, 1);
      smtp.script({});
      await pass(5 * MINUTE_MS - 1_000);
      assert.equal(smtp.contents.length, refused + 1);
      await pass(HOUR_MS);
      await bench.sweepAfter(5 * MINUTE_MS);
      assert.equal(smtp.contents.length, refused + 1, "no second one");
      assert.deepEqual(await dead(), []);
    },
    fault === "silence" ? impatientAt(step) : {},
  );
}

for (const fault of ["cut", "silence"] as const) {
  deliveryTest(
    `a digest with ${fault} after its whole content is unknown: not repeated, not hidden`,
    async (scene) => {
      const { smtp, bench, write, pass, dead } = scene;
      smtp.script({ content: fault });
      await write();
      await bench.sweep();
      assert.equal(smtp.contents.length, 1);
      smtp.script({});
      for (let i = 0; i < 12; i++) await pass(5 * MINUTE_MS);
      await bench.sweepAfter(5 * HOUR_MS);
      assert.equal(smtp.contents.length, 1);
      const [reason] = await dead();
      assert.match(reason!, /^unknown: /);
      assert.equal(bench.events("outgoing_given_up").length, 1);
      // A later message makes up for it.
      await write();
      await bench.sweep();
      assert.equal(smtp.contents.length, 2);
      assert.match(smtp.contents[1]!, /2 unread messages for @bob/);
    },
    fault === "silence" ? impatientAt("content") : {},
  );
}

deliveryTest(
  "an outage of hours loses nothing and ends in one digest of what is undelivered then",
  async (scene) => {
    const { smtp, bench, write, pass } = scene;
    smtp.script({ greeting: { reply: "421 down" } });
    await write();
    await bench.sweep();
    for (let hour = 0; hour < 20; hour++) {
      await write();
      await bench.sweep();
      await pass(HOUR_MS);
    }
    smtp.script({});
    await pass(5 * MINUTE_MS);
    await bench.sweep();
    assert.equal(smtp.contents.length, 1);
    assert.match(smtp.contents[0]!, /21 unread messages for @bob/);
    // The 6 hours count from when it was sent.
    await write();
    await bench.sweepAfter(6 * HOUR_MS - 2_000);
    assert.equal(smtp.contents.length, 1);
    await bench.sweepAfter(2_000);
    assert.equal(smtp.contents.length, 2);
  },
);

deliveryTest(
  "an outage does not pile up digests for one address beyond its share",
  async (scene) => {
    const { smtp, bench, alice, pass } = scene;
    const shared = "shared@example.net";
    const handles = Array.from({ length: 8 }, (_, i) => `reader_${i}`);
    for (const handle of handles) await bench.agent(handle, shared);
    smtp.script({ greeting: "cut" });
    bench.relay.clock.advance(1_000);
    for (const to of handles) await alice.sent({ to, body: "hello" });
    await bench.sweep();
    await bench.sweepAfter(6 * HOUR_MS); // the other four are queued beside the first
    smtp.script({});
    await pass(5 * MINUTE_MS);
    assert.equal(smtp.contents.length, 4);
    await pass(5 * HOUR_MS);
    assert.equal(smtp.contents.length, 4);
    await bench.sweepAfter(2 * HOUR_MS);
    assert.equal(smtp.contents.length, 8);
    assert.equal(new Set(smtp.contents.map((one) => /@reader_\d/.exec(one)![0])).size, 8);
  },
);

deliveryTest("a recipient refused for good is tried three times, then given up", async (scene) => {
  const { smtp, bench, write, pass, dead } = scene;
  smtp.script({ RCPT: { reply: "550 5.1.1 <reader@example.net> is nobody" } });
  await write();
  await bench.sweep();
  for (let i = 0; i < 10; i++) await pass(5 * MINUTE_MS);
  assert.equal(smtp.count("RCPT"), 3);
  assert.deepEqual(await dead(), ["refused: 550 at RCPT TO"]);
  const log = JSON.stringify(bench.relay.logged);
  assert.ok(!log.includes("reader@") && !log.includes("nobody"), log);
  // It does not bar the next one.
  smtp.script({});
  await write();
  await bench.sweepAfter(6 * HOUR_MS);
  assert.equal(smtp.contents.length, 1);
});

deliveryTest("a recipient refused for a time is given up after a day", async (scene) => {
  const { smtp, bench, write, pass, dead } = scene;
  smtp.script({ RCPT: { reply: "452 mailbox full" } });
  await write();
  await bench.sweep();
  for (let hour = 0; hour < 24; hour++) await pass(HOUR_MS);
  await pass(5 * MINUTE_MS);
  assert.deepEqual(await dead(), ["expired: 452 at RCPT TO"]);
});

deliveryTest(
  "what came while a digest waited and was given up makes the next one due",
  async (scene) => {
    const { smtp, bench, write, pass, dead } = scene;
    smtp.script({ RCPT: { reply: "452 mailbox full" } });
    await write();
    await bench.sweep();
    await pass(12 * HOUR_MS);
    await write();
    await bench.sweepAfter(5 * MINUTE_MS); // the waiting digest will name it too
    smtp.script({ RCPT: { reply: "452 still full" } });
    await pass(12 * HOUR_MS);
    assert.equal((await dead()).length, 1);
    smtp.script({});
    await bench.sweepAfter(5 * MINUTE_MS);
    assert.equal(smtp.contents.length, 1);
    assert.match(smtp.contents[0]!, /2 unread messages for @bob/);
  },
);

for (const ending of ["unsubscribed", "fetched", "polled"] as const) {
  deliveryTest(
    `a refused digest whose reader has ${ending} meanwhile is not sent`,
    async (scene) => {
      const { smtp, bench, bob, write, pass, dead } = scene;
      smtp.script({ greeting: "cut" });
      await write();
      await bench.sweep();
      smtp.script({});
      if (ending === "unsubscribed") await setEmail(bob, null);
      else await bob.inbox(ending === "fetched" ? "" : `since_id=${2 ** 53 - 1}`);
      await pass(5 * MINUTE_MS);
      await bench.sweepAfter(5 * MINUTE_MS);
      assert.deepEqual(smtp.contents, []);
      assert.deepEqual(await dead(), []);
    },
  );
}

deliveryTest(
  "an address changed while a digest waits gets the next one, not this one",
  async (scene) => {
    const { smtp, bench, bob, write, pass } = scene;
    smtp.script({ greeting: "cut" });
    await write();
    await bench.sweep();
    smtp.script({});
    await setEmail(bob, "other@example.net");
    await pass(5 * MINUTE_MS);
    assert.deepEqual(smtp.contents, []);
    await write();
    await bench.sweepAfter(6 * HOUR_MS);
    assert.equal(smtp.contents.length, 1);
    assert.match(smtp.contents[0]!, /^To: .*other@example\.net/m);
  },
);

deliveryTest(
  "who unsubscribes between the recipient's acceptance and the content gets nothing",
  async (scene) => {
    const { smtp, bench, bob, write } = scene;
    // The reply to DATA is held back until the address is cleared.
    smtp.script({ DATA: "silence" });
    await write();
    const reached = smtp.reached("DATA");
    const sweeping = bench.sweep();
    await reached;
    await setEmail(bob, null);
    smtp.release("354 go on");
    await sweeping;
    assert.deepEqual(smtp.contents, []);
  },
);

deliveryTest(
  "a message that comes while a digest is being sent is told by the next one",
  async (scene) => {
    const { smtp, bench, write } = scene;
    smtp.script({ content: "silence" });
    await write();
    const reached = smtp.reached("content");
    const sweeping = bench.sweep();
    await reached;
    await write();
    smtp.release("250 stored");
    await sweeping;
    smtp.script({});
    assert.match(smtp.contents[0]!, /1 unread message for @bob/);
    await bench.sweepAfter(6 * HOUR_MS);
    assert.equal(smtp.contents.length, 2);
    assert.match(smtp.contents[1]!, /2 unread messages for @bob/);
  },
);
