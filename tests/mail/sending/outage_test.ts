/** A next hop that goes away and comes back: what waited for it leaves soon, what it put off at its time. */
import assert from "node:assert/strict";
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { askForLink } from "../../support/mail_links.ts";
import { verifyOrg } from "../../support/mail_store.ts";
import { deliver, readMessage, send } from "../../support/sending_org.ts";
import { startSmtpServer } from "../../support/smtp_server.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const MAILS = 30;

Deno.test("after an outage all that waited leaves within 10 s of the first success, what was put off at its time", async () => {
  let server = await startSmtpServer();
  const { port } = server;
  const mailer = createSmtpMailer({
    smtp: { host: "127.0.0.1", port, secure: false },
    ehloName: "agents.test",
    timing: { quitMs: 50, idleMs: 1 },
  });
  await using relay = await startMailRelay({
    limits: { mailMinFreeDiskBytes: 0 },
    deps: { mailer },
    config: { sharedStore: true }, // an org is verified beside it
  });
  try {
    const owner = await newOrg(relay);
    await verifyOrg(relay.deps.kv, owner.orgId, relay.clock.now());
    const inbox = await owner.inbox({});
    const sendTo = async (to: string) => accepted(await send(owner, inbox, { to }), 202).id;

    // Put off three times: the next time is a quarter of an hour away.
    const putOff = await sendTo("slow@later.test");
    server.refuse({ at: "recipient", code: 451 });
    for (const waitMs of [0, 66 * SECOND_MS, 330 * SECOND_MS]) {
      relay.clock.advance(waitMs);
      await deliver(relay);
    }
    const { recipients: [{ next_attempt_at: dueAt, attempts }] } = await readMessage(owner, putOff);
    assert.equal(attempts, 3);
    assert.ok(Date.parse(dueAt) - relay.clock.now() > 13 * MINUTE_MS);

    await server.stop();
    const waiting: string[] = [];
    for (let i = 0; i < MAILS; i++) waiting.push(await sendTo(`ann@d${i % 3}.test`));
    for (let i = 0; i < 20; i++) {
      await deliver(relay);
      relay.clock.advance(15 * SECOND_MS);
    }
    for (const id of waiting) {
      const { status, recipients } = await readMessage(owner, id);
      assert.ok(["queued", "deferred"].includes(status), status);
      assert.ok(recipients[0].attempts <= 1, "the outage is not charged to the mail");
    }

    server = await startSmtpServer({ port });
    const backMs = relay.clock.now();
    while (server.received.length === 0) {
      assert.ok(relay.clock.now() <= backMs + 31 * SECOND_MS, "a trial each 30 s");
      relay.clock.advance(SECOND_MS);
      await deliver(relay);
    }
    const successMs = relay.clock.now();
    while (server.received.length < MAILS && relay.clock.now() < successMs + 10 * SECOND_MS) {
      relay.clock.advance(SECOND_MS);
      await deliver(relay);
    }
    const to = server.received.map((mail) => mail.to[0]!);
    assert.equal(to.length, MAILS, "and each of them once");
    for (const id of waiting) assert.equal((await readMessage(owner, id)).status, "sent");

    const still = await readMessage(owner, putOff);
    assert.equal(still.recipients[0].next_attempt_at, dueAt);
    relay.clock.advance(Date.parse(dueAt) - relay.clock.now());
    await deliver(relay);
    assert.equal(server.received.at(-1)!.to[0], "slow@later.test");
    assert.equal(server.received.length, MAILS + 1);
  } finally {
    await mailer.close();
    await server.stop();
  }
});

Deno.test("what met a short outage leaves within 10 s of the first success, however often it was put off before", async () => {
  let server = await startSmtpServer();
  const { port } = server;
  const mailer = createSmtpMailer({
    smtp: { host: "127.0.0.1", port, secure: false },
    ehloName: "agents.test",
    timing: { quitMs: 50, idleMs: 1 },
  });
  await using relay = await startMailRelay({
    limits: { mailMinFreeDiskBytes: 0 },
    deps: { mailer },
    config: { sharedStore: true }, // an org is verified beside it
  });
  try {
    const owner = await newOrg(relay);
    await verifyOrg(relay.deps.kv, owner.orgId, relay.clock.now());
    const inbox = await owner.inbox({});
    const sendTo = async (to: string) => accepted(await send(owner, inbox, { to }), 202).id;
    server.refuse({ at: "recipient", code: 451 }); // a mail may leave before its request is answered
    const ids = [await sendTo("ann@one.test"), await sendTo("ann@other.test")];
    for (const waitMs of [0, 66 * SECOND_MS]) {
      relay.clock.advance(waitMs);
      await deliver(relay);
    }
    await server.stop();
    relay.clock.advance(330 * SECOND_MS);
    await deliver(relay);
    for (const id of ids) {
      const { recipients: [{ attempts, smtp_code }] } = await readMessage(owner, id);
      assert.deepEqual([attempts, smtp_code], [2, null]);
    }
    server = await startSmtpServer({ port });
    await sendTo("ann@new.test");
    await deliver(relay);
    assert.equal(server.received.length, 1);
    relay.clock.advance(10 * SECOND_MS);
    await deliver(relay);
    for (const id of ids) assert.equal((await readMessage(owner, id)).status, "sent");
    assert.equal(server.received.length, 3);
  } finally {
    await mailer.close();
    await server.stop();
  }
});

for (const apartMs of [0, 10, 20].map((seconds) => seconds * SECOND_MS)) {
  Deno.test(`the first success of one kind of mail ends the outage for every kind (${apartMs} ms apart)`, async () => {
    let server = await startSmtpServer();
    const { port } = server;
    const mailer = createSmtpMailer({
      smtp: { host: "127.0.0.1", port, secure: false },
      ehloName: "agents.test",
      timing: { quitMs: 50, idleMs: 1 },
    });
    await using relay = await startMailRelay({
      limits: { mailMinFreeDiskBytes: 0 },
      deps: { mailer },
      config: { sharedStore: true }, // an org is verified beside it
    });
    try {
      const owner = await newOrg(relay);
      await verifyOrg(relay.deps.kv, owner.orgId, relay.clock.now());
      const inbox = await owner.inbox({});
      const pass = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += SECOND_MS) {
          relay.clock.advance(SECOND_MS);
          await deliver(relay);
        }
      };
      await server.stop();
      for (let i = 0; i < 6; i++) accepted(await send(owner, inbox, { to: `ann@d${i}.test` }), 202);
      await pass(60 * SECOND_MS + apartMs);
      for (let i = 0; i < 6; i++) accepted(await askForLink(relay, `owner@d${i}.test`), 202);
      await deliver(relay);
      await pass(SECOND_MS);
      server = await startSmtpServer({ port });
      while (server.received.length === 0) await pass(SECOND_MS);
      await pass(10 * SECOND_MS);
      assert.equal(server.received.length, 12);
    } finally {
      await mailer.close();
      await server.stop();
    }
  });
}
