/** What answers say of messages while they are being sent, and what figures keep of those that go. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, type MailKeyHolder } from "../../support/mail_caller.ts";
import { startMailPair } from "../../support/mail_pair.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { verifyOrg } from "../../support/mail_store.ts";
import { newOrg } from "../../support/mail_caller.ts";
import { startNextHopRelay } from "../../support/next_hop_relay.ts";
import {
  deliver,
  listMessages,
  newSendingOrg,
  readMessage,
  send,
} from "../../support/sending_org.ts";
import type { Mailer } from "../../../server/base/mailer/mailer.ts";

const HOUR_MS = 3_600_000;

async function health(owner: MailKeyHolder): Promise<Record<string, unknown>> {
  const path = "/v1/mail/delivery-health?period=30d";
  return accepted(await owner.ask("GET", path), 200);
}

/** Every answer that shows a message: its status, and its recipients'. */
async function shownEverywhere(owner: MailKeyHolder, inbox: { id: string }, id: string) {
  const whole = await readMessage(owner, id);
  const [row] = (await listMessages(owner, inbox)).filter((one) => one.id === id);
  const path = `/v1/mail/inboxes/${inbox.id}/messages?direction=outbound&order=asc`;
  const indexed = accepted(await owner.ask("GET", path), 200).data;
  const thread = accepted(await owner.ask("GET", `/v1/mail/threads/${whole.thread_id}`), 200);
  const patched = accepted(
    await owner.ask("PATCH", `/v1/mail/messages/${id}`, { body: { read: true } }),
    200,
  );
  const named = (list: { id: string }[]) => list.find((one) => one.id === id);
  return [whole, row, named(indexed), named(thread.messages), patched].map((one) => [
    one.status,
    ...one.recipients.map(({ status }: { status: string }) => status),
  ]);
}

Deno.test("a message is shown as being sent while it is, everywhere, and as sent after that", async () => {
  await using world = await startNextHopRelay();
  const { owner, inbox, smtp, relay } = world;
  smtp.script({ content: "silence" });
  const to = ["ann@example.org", "bob@example.org"];
  const reached = smtp.reached("content");
  const { id } = accepted(await send(owner, inbox, { to, send_at: soon(relay.clock.now()) }), 202);
  assert.deepEqual(await shownEverywhere(owner, inbox, id), all(["scheduled", "queued", "queued"]));
  relay.clock.advance(60_000);
  const running = deliver(relay);
  await reached;
  const during = await shownEverywhere(owner, inbox, id);
  assert.equal(during.length, 5);
  for (const [status, ...recipients] of during) {
    assert.ok(recipients.includes("sending"), recipients.join());
    assert.ok(recipients.every((one) => one === "sending" || one === "queued"));
    assert.equal(status, recipients.includes("queued") ? "queued" : "sending");
  }
  assertMailRefused(
    await owner.ask("POST", `/v1/mail/messages/${id}/cancel`),
    "already_sent",
  );
  smtp.script({});
  smtp.release("250 stored");
  const releasing = setInterval(() => smtp.release("250 stored"), 20);
  await running;
  clearInterval(releasing);
  assert.deepEqual(await shownEverywhere(owner, inbox, id), all(["sent", "sent", "sent"]));
});

const all = (statuses: string[]) => Array.from({ length: 5 }, () => statuses);
const soon = (nowMs: number) => new Date(nowMs + 40_000).toISOString();

Deno.test("another process shows a message as being sent too", async () => {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const mailer: Mailer = {
    async send(_mail, { beforeContent }) {
      await beforeContent();
      reached.resolve();
      await go.promise;
      const reply = { code: 250, enhancedCode: null, text: "ok" };
      return { result: "sent", reason: "250 at DATA", reply };
    },
    close: () => Promise.resolve(),
  };
  await using pair = await startMailPair({ mailer });
  const [one, other] = pair.relays;
  const owner = await newOrg(one);
  await verifyOrg(pair.kv, owner.orgId, pair.clock.now());
  const inbox = await owner.inbox({});
  const { id } = accepted(await send(owner, inbox, {}), 202);
  const running = deliver(one);
  await reached.promise;
  const there = owner.at(other);
  assert.equal((await readMessage(there, id)).status, "sending");
  assert.equal((await listMessages(there, inbox))[0].recipients[0].status, "sending");
  go.resolve();
  await running;
  assert.equal((await readMessage(there, id)).status, "sent");
});

Deno.test("what is deleted or cancelled while it waits is not sent, and is counted as pending no more", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay, "owner@example.org");
  const [ada, bob] = [await owner.inbox({}), await owner.inbox({})];
  const at = new Date(relay.clock.now() + HOUR_MS).toISOString();
  const sendOne = async (inbox: { id: string }) =>
    accepted(
      await send(owner, inbox, { to: ["a@example.org", "b@example.org"], send_at: at }),
      202,
    ).id;
  const [removed, cancelled] = [await sendOne(ada), await sendOne(ada)];
  for (let i = 0; i < 3; i++) await sendOne(bob);
  assert.equal((await health(owner))["pending"], 10);
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${removed}`), 204);
  assert.equal((await health(owner))["pending"], 8);
  accepted(await owner.ask("POST", `/v1/mail/messages/${cancelled}/cancel`), 200);
  assert.equal((await health(owner))["pending"], 6);
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${cancelled}`), 204);
  assert.equal((await health(owner))["pending"], 6, "it was counted when it was cancelled");
  // A deferred one, and two of other days.
  const late = accepted(await send(owner, bob, { to: "x@defer.test" }), 202).id;
  await deliver(relay);
  assert.equal((await readMessage(owner, late)).status, "deferred");
  assert.deepEqual(pick(await health(owner)), [6, 1]);
  accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${bob.id}`), 204);
  await relay.relay.crons["figures"]!();
  assert.deepEqual(pick(await health(owner)), [0, 0]);
  relay.clock.advance(2 * HOUR_MS);
  await deliver(relay);
  const { body } = await owner.ask("GET", "/dev/mail");
  const sentTo = body.data.flatMap(({ envelope }: { envelope: { to: string[] } }) => envelope.to);
  assert.deepEqual(sentTo, ["owner@example.org"]);
  assert.deepEqual(await Array.fromAsync(relay.deps.kv.list({ prefix: ["outgoing"] })), []);
});

const pick = ({ pending, deferred }: Record<string, unknown>) => [pending, deferred];

Deno.test("a deleted inbox with mail that waits since many days is counted in small commits", async () => {
  await using pair = await startMailPair();
  const [relay] = pair.relays;
  const owner = await newOrg(relay);
  await verifyOrg(pair.kv, owner.orgId, pair.clock.now());
  const inbox = await owner.inbox({});
  const end = pair.clock.now() + 29 * 86_400_000;
  for (let day = 0; day < 12; day++) {
    const at = new Date(end).toISOString();
    accepted(await send(owner, inbox, { to: `d${day}@example.org`, send_at: at }), 202);
    pair.clock.advance(86_400_000);
  }
  assert.equal((await health(owner))["pending"], 12);
  accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${inbox.id}`), 204);
  await relay.relay.crons["figures"]!();
  assert.equal((await health(owner))["pending"], 0);
  const left = await Array.fromAsync(pair.kv.list({ prefix: ["mail-message", owner.orgId] }));
  assert.deepEqual(left, []);
});
