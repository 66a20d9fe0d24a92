/** Which commits raise events, over HTTP: what comes in, what becomes of what goes out, drafts. */
import assert from "node:assert/strict";
import {
  decide,
  LETTER,
  makeDraftWorld,
  newDraft,
  newestApproval,
} from "../../support/draft_world.ts";
import { handIn, handInEvents, mailText } from "../../support/inbound_mail.ts";
import { post } from "../../support/local_mail.ts";
import { accepted } from "../../support/mail_caller.ts";
import { mailDone } from "../../support/mail_tools.ts";
import { putWebhooks, shown, storedEvents, webhookFilter } from "../../support/raised_events.ts";
import type { DraftRow } from "../../../server/mail/records/draft_record.ts";
import type { MessageRow } from "../../../server/mail/records/message_record.ts";
import type { ThreadRow } from "../../../server/mail/records/thread_record.ts";
import { deliver, readMessage, send, takenFor } from "../../support/sending_org.ts";
import { startEventWorld } from "./event_world.ts";

Deno.test("message.received: once a stored message, whichever way it came, with its thread as it is then", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  const hears = await putWebhooks(kv, owner.orgId, webhookFilter());
  const raw = mailText({ headers: { "Message-ID": "<first@else.test>" } });
  const timestamp = Math.floor(relay.clock.now() / 1000);
  const repeated = () => handIn(relay.url, { to: [inbox.address], raw, timestamp });
  for (const answer of [await repeated(), await repeated()]) accepted(answer, 200);
  const [first, ...more] = world.take();
  assert.deepEqual(more, []);
  const { row, payload } = first!;
  const message = row.subject as MessageRow;
  const { beside, ...named } = payload;
  assert.deepEqual(named, {
    v: 1,
    orgId: owner.orgId,
    inboxId: inbox.id,
    objectId: message.id,
    eventId: first!.id,
    webhookIds: hears,
  });
  assert.deepEqual([row.type, row.body, message.direction], ["message.received", null, "inbound"]);
  assert.equal((await readMessage(owner, message.id)).thread_id, message.threadId);
  const threadOf = (one: typeof beside) => (one as { thread: ThreadRow }).thread;
  assert.deepEqual([threadOf(beside).id, threadOf(beside).messageCount], [message.threadId, 1]);

  await world.receive(inbox.address, { headers: { "In-Reply-To": "<first@else.test>" } });
  const [second] = world.take();
  const thread = threadOf(second!.payload.beside);
  assert.deepEqual([thread.id, thread.messageCount, thread.lastMessageId, thread.unreadCount], [
    message.threadId,
    2,
    (second!.row.subject as MessageRow).id,
    2,
  ]);
  const dev = { from: "ann@x.test", to: inbox.address, subject: "s", text: "t" };
  assert.equal((await post(`${relay.url}/dev/mail`, dev)).status, 200);
  assert.deepEqual(world.told(), ["message.received"]);
});

Deno.test("mail between inboxes of the relay is sent in one and received in the other", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const other = await owner.inbox({ local_part: "bob" });
  const sent = accepted(await send(owner, inbox, { to: other.address }), 202);
  assert.deepEqual(world.told(), []);
  await deliver(relay);
  const events = world.take();
  assert.deepEqual(
    events.map(({ row, payload }) => [row.type, payload.inboxId, payload.objectId === sent.id]),
    [["message.received", other.id, false], ["message.sent", inbox.id, true]],
  );
});

Deno.test("webhooks hear by event and inbox, while they are active, and nothing is written where none does", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  const other = await owner.inbox({ local_part: "bob" });
  const of = webhookFilter;
  const [all, , ofInbox] = await putWebhooks(
    kv,
    owner.orgId,
    of(),
    of({ isActive: false }),
    of({ inboxIds: [inbox.id] }),
    of({ inboxIds: [other.id] }),
    of({ events: ["message.sent", "draft.created"] }),
    of({ events: [] }),
  );
  await world.receive(inbox.address);
  assert.deepEqual(world.take().map(({ payload }) => payload.webhookIds), [[all, ofInbox]]);
  const [deaf] = [of({ events: ["message.bounced"] })];
  for (const webhooks of [[deaf], []]) {
    await putWebhooks(kv, owner.orgId, ...webhooks);
    await world.receive(inbox.address);
    accepted(await send(owner, inbox, {}), 202);
    await deliver(relay);
    await newDraft(owner, inbox.id, LETTER);
  }
  assert.deepEqual(world.take(), []);
  assert.equal((await storedEvents(kv)).length, 1);
});

Deno.test("outcomes: message.sent once when the last has left, and each status of a recipient once", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const to = ["ann@example.org", "bob@defer.test", "cid@bounce.test", "dan@example.org"];
  const sent = accepted(await send(owner, inbox, { to }), 202);
  await deliver(relay);
  const first = world.take();
  assert.deepEqual(first.map(shown).toSorted(), [
    "message.bounced 2 bounced",
    "message.deferred 1 deferred",
    "message.sent",
  ]);
  const left = first.find(({ row }) => row.type === "message.sent")!.row.subject as MessageRow;
  assert.deepEqual(left.recipients.filter(({ status }) => status === "queued"), []);
  relay.clock.advance(2 * 60_000);
  await deliver(relay); // deferred again: nothing new
  assert.deepEqual(world.told(), []);
  const events = ["delivered", "delivered", "bounced", "complained"].map((type) => ({
    type,
    message_id: sent.id,
    recipient: "ann@example.org",
    at: new Date(relay.clock.now()).toISOString(),
  }));
  for (let i = 0; i < 2; i++) {
    accepted(await handInEvents(relay, JSON.stringify({ events }), { id: `evt_${i}` }), 200);
  }
  assert.deepEqual(world.told(), ["message.delivered 0 delivered", "message.bounced 0 bounced"]);
  await deliver(relay); // their bodies are made before the clock moves
  relay.clock.advance(25 * 3_600_000);
  await deliver(relay);
  assert.deepEqual(world.told(), ["message.failed 1 failed"]);
  const { recipients } = await readMessage(owner, sent.id);
  assert.deepEqual(recipients.map(({ status }: { status: string }) => status), [
    "bounced",
    "failed",
    "bounced",
    "sent",
  ]);
});

Deno.test("a report that bounces come back with raises one event, the second time none", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  accepted(await send(owner, inbox, { to: "ann@example.org" }), 202);
  await deliver(relay);
  assert.deepEqual(world.told(), []); // nobody heard it
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const [taken] = await takenFor(relay, "ann@example.org");
  const dsn = mailText({
    headers: {
      From: "MAILER-DAEMON@mx.example.org",
      "MIME-Version": "1.0",
      "Content-Type": 'multipart/report; report-type=delivery-status; boundary="b"',
    },
    text: "--b\r\n\r\nwords\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" +
      "Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; ann@example.org\r\n" +
      "Action: failed\r\nStatus: 5.1.1\r\n\r\n--b--\r\n",
  });
  for (let i = 0; i < 2; i++) {
    const timestamp = Math.floor(relay.clock.now() / 1000);
    const to = [taken!.envelope.from];
    accepted(await handIn(relay.url, { from: "", to, raw: dsn, timestamp }), 200);
  }
  // message.sent was due before anybody heard it, and comes no more.
  assert.deepEqual(world.told(), ["message.bounced 0 bounced"]);
});

Deno.test("a message that is cancelled raises nothing, and neither does one that only waits", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const atMs = relay.clock.now() + 60_000;
  const sent = accepted(await send(owner, inbox, { send_at: new Date(atMs).toISOString() }), 202);
  accepted(await owner.ask("POST", `/v1/mail/messages/${sent.id}/cancel`, { body: {} }), 200);
  relay.clock.advance(26 * 3_600_000);
  await deliver(relay);
  assert.deepEqual(world.told(), []);
});

Deno.test("drafts: created by route, by a send that needs approval and by tools; sent by route and by a person", async () => {
  await using world = await startEventWorld();
  const { relay, kv } = world;
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const path = `/v1/mail/inboxes/${inbox.id}/drafts`;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const named = { ...LETTER, client_id: "c" };
  const draft = accepted(await agent.ask("POST", path, { body: named }), 201);
  accepted(await agent.ask("POST", path, { body: named }), 200);
  const [created, ...more] = world.take();
  assert.deepEqual(more, []);
  assert.equal(created!.row.type, "draft.created");
  assert.deepEqual([created!.payload.objectId, created!.payload.beside], [draft.id, null]);
  const { revision, contentHash } = created!.row.subject as DraftRow;
  assert.deepEqual([revision, contentHash], [1, draft.content_hash]);

  const changed = { subject: "Other" };
  accepted(await agent.ask("PATCH", `/v1/mail/drafts/${draft.id}`, { body: changed }), 200);
  assert.deepEqual(world.told(), []);
  accepted(await decide(relay, await newestApproval(relay), "approve"), 200);
  const sent = world.take().find(({ row }) => row.type === "draft.sent");
  const message = sent!.row.subject as MessageRow;
  const { draft: was } = sent!.payload.beside as { draft: DraftRow };
  assert.deepEqual([was.id, was.revision, was.subject], [draft.id, 2, "Other"]);
  assert.deepEqual([message.draftId, message.subject], [draft.id, "Other"]);
  assert.equal(sent!.payload.objectId, message.id);
  assert.equal((await readMessage(owner, message.id)).draft_id, undefined);

  const proposed = accepted(await send(agent, inbox, {}), 202);
  assert.equal(proposed.status, "pending_approval");
  await mailDone(agent, "send_email", { inbox_id: inbox.id, ...LETTER });
  const toldOfDrafts = () => world.told().filter((type) => type.startsWith("draft."));
  assert.deepEqual(toldOfDrafts(), ["draft.created", "draft.created"]);
  const body = { revision: 1 };
  const byRoute = `/v1/mail/drafts/${proposed.draft.id}/send`;
  accepted(await owner.ask("POST", byRoute, { body, headers: { "Idempotency-Key": "k" } }), 202);
  accepted(await owner.ask("POST", byRoute, { body, headers: { "Idempotency-Key": "k" } }), 202);
  assert.deepEqual(toldOfDrafts(), ["draft.sent"]);
});

Deno.test("a suspended org's reports are told, an org that has gone is told nothing", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  const sent = accepted(await send(owner, inbox, {}), 202);
  await deliver(relay);
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const key = ["mail-org", owner.orgId];
  const { value } = await kv.get<object>(key);
  await kv.set(key, { ...value, suspendedAtMs: relay.clock.now() });
  const report = (type: string) =>
    handInEvents(
      relay,
      JSON.stringify({
        events: [{
          type,
          message_id: sent.id,
          recipient: "ann@example.org",
          at: new Date(relay.clock.now()).toISOString(),
        }],
      }),
      { id: `evt_${type}` },
    );
  assert.equal(accepted(await report("delivered"), 200).applied, 1);
  assert.deepEqual(world.told(), ["message.delivered 0 delivered"]);
  await kv.set(key, { ...value, deletedAtMs: relay.clock.now() });
  assert.equal(accepted(await report("complained"), 200).applied, 0);
  assert.deepEqual(world.told(), []);
});
