/** What events say, and what becomes of them, of deliveries and logs when things go. */
import assert from "node:assert/strict";
import { auditStorage } from "../../support/mailbox_audit.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { askMail } from "../../support/mail_relay.ts";
import type { AttemptRow } from "../../../server/mail/records/webhook_record.ts";
import { delay } from "../../support/pace.ts";
import { newSendingOrg, send } from "../../support/sending_org.ts";
import {
  deliveriesOf,
  newWebhook,
  queueOne,
  readWebhook,
  receiveOne,
  recordOf,
  rowsOf,
  settle,
  startWebhookWorld,
  verify,
  waiting,
  type WebhookWorld,
} from "../../support/webhook_world.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const ADMIN_TOKEN = "an-admin-token-of-a-test-of-webhooks";

/** Has the work of each minute done, until it has come to something. */
async function until(world: WebhookWorld, isDone: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300 && !(await isDone()); i++) {
    await world.relay.relay.crons["figures"]!();
    await delay(5);
  }
  assert.ok(await isDone());
}

Deno.test("events of messages and drafts say what GET says, without headers", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver } = world;
  const { secret } = await newWebhook(world);
  const inbox = await owner.inbox();
  const get = async (path: string) => {
    const { headers: _, ...shown } = accepted(await owner.ask("GET", `/v1/mail/${path}`), 200);
    return shown;
  };
  const receivedId = await receiveOne(world, inbox);
  const received = receiver.taken.at(-1)!.body;
  assert.deepEqual(
    [received.type, received.org_id, received.inbox_id],
    ["message.received", owner.orgId, inbox.id],
  );
  assert.deepEqual(received.data.message, await get(`messages/${receivedId}`));
  const { messages: _, next_cursor: __, ...thread } = await get(
    `threads/${received.data.message.thread_id}`,
  );
  assert.deepEqual(received.data.thread, thread);
  assert.equal(received.data.truncated, false);

  const path = `/v1/mail/inboxes/${inbox.id}/drafts`;
  const body = { to: "ann@example.org", subject: "Draft", text: "Words.", html: "<p>Words.</p>" };
  const draft = accepted(await owner.ask("POST", path, { body }), 201);
  await settle(world);
  const created = receiver.taken.at(-1)!.body;
  const { headers: ___, ...shownDraft } = draft;
  assert.deepEqual(created.data, { draft: shownDraft, truncated: false });
  assert.equal(created.type, "draft.created");
  receiver.taken.length = 0;
  const sent = accepted(
    await owner.ask("POST", `/v1/mail/drafts/${draft.id}/send`, { body: {} }),
    202,
  );
  await settle(world);
  await settle(world);
  const byType = Object.fromEntries(receiver.taken.map(({ body }) => [body.type, body.data]));
  assert.deepEqual(Object.keys(byType).sort(), ["draft.sent", "message.sent"]);
  assert.equal(byType["draft.sent"].draft.id, draft.id);
  assert.equal(byType["draft.sent"].message.id, sent.id);
  assert.equal(byType["draft.sent"].message.text, "Words.");
  assert.deepEqual(byType["message.sent"].message, await get(`messages/${sent.id}`));
  for (const taken of receiver.taken) verify(taken, secret);

  receiver.taken.length = 0;
  accepted(await send(owner, inbox, { to: ["a@bounce.test", "b@defer.test"] }), 202);
  await settle(world);
  await settle(world);
  const outcomes = receiver.taken.map(({ body: { type, data } }) => [
    type,
    data.recipient.address,
    data.recipient.status,
  ]);
  assert.deepEqual(outcomes.sort(), [
    ["message.bounced", "a@bounce.test", "bounced"],
    ["message.deferred", "b@defer.test", "deferred"],
  ]);
});

Deno.test("DELETE message: what waits is dropped, nothing is delivered again, and answers are blanked", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver, relay } = world;
  receiver.answer = ({ text }) => new Response(text, { status: 500 });
  const { id } = await newWebhook(world, { events: ["message.received"] });
  const messageId = await receiveOne(world);
  const kept = await receiveOne(world);
  assert.equal((await rowsOf(world, "mail-event")).length, 2);
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${messageId}`), 204);
  const responses = async () => (await deliveriesOf(world, id)).map(({ response }) => response);
  const [keptText, erased] = await responses();
  assert.ok(keptText.includes("message.received"));
  assert.equal(erased, ""); // though the store has it yet
  const [, first] = await deliveriesOf(world, id);
  const again = `/v1/mail/webhooks/${id}/deliveries/${first.id}/redeliver`;
  assertMailRefused(await owner.ask("POST", again), "not_found", /erased/);
  const stored = async () => {
    const rows = await Array.fromAsync(
      relay.deps.kv.list<{ response: string }>({ prefix: ["mail-webhook-attempt"] }),
    );
    return rows.map(({ value }) => value.response);
  };
  assert.ok((await stored()).every((response) => response !== ""));
  relay.clock.advance(6 * MINUTE_MS);
  await until(world, async () => (await rowsOf(world, "mail-event-erased")).length === 0);
  const blanked = (await stored()).filter((response) => response === "");
  assert.equal(blanked.length, 1);
  await settle(world);
  assert.equal(receiver.taken.length, 3); // the other's second attempt
  assert.equal((await rowsOf(world, "mail-event-end")).length, 1);
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${kept}`), 204);
  relay.clock.advance(DAY_MS);
  await settle(world);
  assert.equal(receiver.taken.length, 3);
  assert.deepEqual(await waiting(world), []);
  assert.equal((await recordOf(world, id)).pending, 0);
});

Deno.test("an event that is erased while its receiver answers leaves no answer behind", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver } = world;
  const { id } = await newWebhook(world, { events: ["message.received"] });
  const [reached, held] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  receiver.answer = async ({ text, body }) => {
    reached.resolve(body.data.message.id);
    await held.promise;
    return new Response(text);
  };
  const received = receiveOne(world);
  const messageId = await reached.promise;
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${messageId}`), 204);
  held.resolve();
  await received.catch(() => {}); // it reads the message, which has gone
  await settle(world);
  const [row] = await Array.fromAsync(
    world.relay.deps.kv.list<{ response: string }>({ prefix: ["mail-webhook-attempt"] }),
  );
  assert.equal(row!.value.response, "");
  assert.equal((await readWebhook(world, id)).consecutive_failures, 0);
});

Deno.test("after 7 days an event has gone, with its bytes, and those that a clock ahead made too", async () => {
  await using world = await startWebhookWorld();
  const { relay, owner } = world;
  const { id } = await newWebhook(world, { events: ["message.received"] });
  await receiveOne(world);
  const before = (await auditStorage(relay.deps.kv)).length;
  const far = [
    "mail-event-end",
    relay.clock.now() + 100 * DAY_MS,
    owner.orgId,
    "ibx",
    "msg",
    "evt",
  ];
  await relay.deps.kv.set(far, { v: 1 });
  await until(world, async () => await relay.deps.kv.get(far).then(({ value }) => value === null));
  relay.clock.advance(7 * DAY_MS - MINUTE_MS);
  await relay.relay.crons["figures"]!();
  assert.equal((await rowsOf(world, "mail-event")).length, 1);
  relay.clock.advance(2 * MINUTE_MS);
  await until(world, async () => (await rowsOf(world, "mail-event")).length === 0);
  await until(world, async () => (await rowsOf(world, "mail-event-end")).length === 0);
  relay.clock.advance(2 * 60 * MINUTE_MS);
  await until(world, async () => (await auditStorage(relay.deps.kv)).length === before - 1);
  const [row] = await deliveriesOf(world, id);
  assert.equal(row.response, "");
  // Nor does its text stay in the store, which outlives the message otherwise.
  const stored = () =>
    Array.fromAsync(relay.deps.kv.list<AttemptRow>({ prefix: ["mail-webhook-attempt"] }));
  await until(world, async () => (await stored()).every(({ value }) => value.response === ""));
  await until(world, async () => (await rowsOf(world, "mail-event-erased")).length === 0);
});

Deno.test("deleting a webhook, an inbox or an org leaves nothing of them, and ends what waits", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver, relay } = world;
  receiver.answer = () => new Response(null, { status: 500 });
  const [first, second] = [await newWebhook(world), await newWebhook(world, { client_id: "c" })];
  const inbox = await owner.inbox();
  await receiveOne(world, inbox);
  await queueOne(world, `${first.id}/test`);
  await settle(world);
  accepted(await owner.ask("DELETE", `/v1/mail/webhooks/${first.id}`), 204);
  const ofFirst = async (table: string) =>
    (await rowsOf(world, table)).filter((key) => key[2] === first.id);
  assert.deepEqual([await ofFirst("mail-webhook"), await ofFirst("mail-webhook-attempt")], [
    [],
    [],
  ]);
  const taken = receiver.taken.length;
  relay.clock.advance(6_000);
  await settle(world);
  assert.equal(receiver.taken.length, taken + 1); // the second's alone
  assert.equal((await waiting(world)).length, 1);

  accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${inbox.id}`), 204);
  await until(world, async () => (await rowsOf(world, "mail-event")).length === 0);
  relay.clock.advance(DAY_MS);
  await settle(world);
  assert.equal(receiver.taken.length, taken + 1);
  assert.deepEqual(await waiting(world), []);

  await receiveOne(world, await owner.inbox());
  await queueOne(world, `${second.id}/test`);
  await settle(world);
  accepted(await owner.deleteOrg(), 204);
  await until(world, async () => (await rowsOf(world, "mail-org")).length === 0);
  for (
    const table of [
      "mail-webhook",
      "mail-webhook-attempt",
      "mail-event",
      "mail-event-end",
      "mail-event-erased",
      "mail-client-id",
    ]
  ) assert.deepEqual(await rowsOf(world, table), [], table);
  relay.clock.advance(DAY_MS);
  await settle(world);
  assert.deepEqual(await waiting(world), []);
});

Deno.test("a suspended org's deliveries wait, and go out afterwards", async () => {
  await using world = await startWebhookWorld({ config: { adminToken: ADMIN_TOKEN } });
  const { owner, receiver, relay } = world;
  receiver.answer = () => new Response(null, { status: 500 });
  const { id } = await newWebhook(world, { events: ["message.received"] });
  await receiveOne(world);
  const suspend = async (verb: "suspend" | "unsuspend") => {
    const path = `/v1/admin/mail/orgs/${owner.orgId}/${verb}`;
    accepted(await askMail(relay.url, "POST", path, { key: ADMIN_TOKEN }), 200);
  };
  await suspend("suspend");
  for (let minutes = 0; minutes < 20; minutes++) {
    relay.clock.advance(MINUTE_MS);
    await settle(world);
  }
  assert.equal(receiver.taken.length, 1);
  await suspend("unsuspend");
  receiver.answer = () => new Response();
  relay.clock.advance(6 * MINUTE_MS);
  await settle(world);
  const [last] = await deliveriesOf(world, id);
  assert.deepEqual([last.attempt, last.status], [2, 200]);
});

Deno.test("a webhook that hangs keeps no delivery of another org waiting, and its own org's once the org is known", async () => {
  await using world = await startWebhookWorld();
  const { receiver, relay } = world;
  const { port } = new URL(receiver.url);
  const at = (name: string) => ({ url: `http://localhost:${port}/${name}` });
  const held = Promise.withResolvers<void>();
  receiver.answer = async ({ path }) => {
    if (path === "/hook") await held.promise;
    return new Response();
  };
  const stranger = await newSendingOrg(relay);
  const strange: WebhookWorld = { ...world, owner: stranger };
  const [hanging, quick] = [await newWebhook(world), await newWebhook(world, at("quick"))];
  const other = await newWebhook(strange, at("other"));
  await queueOne(world, `${quick.id}/test`);
  await settle(world);
  const taken = (name: string) => receiver.taken.filter(({ path }) => path === name).length;
  const comes = async (name: string, count: number) => {
    while (taken(name) < count) await delay(1);
  };
  for (let i = 0; i < 5; i++) await queueOne(world, `${hanging.id}/test`);
  await comes("/hook", 1);
  await queueOne(strange, `${other.id}/test`);
  await comes("/other", 1);
  await queueOne(world, `${quick.id}/test`);
  await comes("/quick", 2);
  assert.equal(taken("/hook"), 1); // of a host that nobody knows, one at a time
  held.resolve();
  await settle(world);
  assert.equal(taken("/hook"), 5);
});
