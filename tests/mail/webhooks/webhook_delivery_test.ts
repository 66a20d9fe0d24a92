// Over 300 lines: one schedule, and each way in which it ends.
/** Deliveries over sockets, through the whole schedule by a clock that the test moves. */
import assert from "node:assert/strict";
import { webhookKey } from "../../../server/mail/records/webhook_record.ts";
import type { OutgoingRow } from "../../../server/base/outgoing/outgoing_row.ts";
import { KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { createFakeKv } from "../../support/fake_kv.ts";
import { accepted } from "../../support/mail_caller.ts";
import { openMemoryKv, SAVED_AT_ONCE } from "../../support/read_through.ts";
import { takenFor } from "../../support/sending_org.ts";
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
  type TakenDelivery,
  verify,
  waiting,
  type WebhookWorld,
} from "../../support/webhook_world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WAITS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Moves the clock to when the newest attempt is followed by another. */
async function passToNext(world: WebhookWorld, id: string): Promise<number> {
  const [{ next_attempt_at, at }] = await deliveriesOf(world, id);
  const { clock } = world.relay;
  const dueMs = Date.parse(next_attempt_at);
  clock.advance(dueMs - clock.now() - 1);
  const before = world.receiver.taken.length;
  await settle(world);
  assert.equal(world.receiver.taken.length, before, "nothing comes early");
  clock.advance(1);
  await settle(world);
  return dueMs - Date.parse(at);
}

Deno.test("an event that fails is delivered ten times, at the times of the schedule, and given up", async () => {
  await using world = await startWebhookWorld();
  const { receiver } = world;
  receiver.answer = () => new Response("no".repeat(1_000), { status: 500 });
  const { id, secret } = await newWebhook(world);
  const messageId = await receiveOne(world);
  for (const [i, waitMs] of WAITS_MS.entries()) {
    assert.equal(receiver.taken.length, i + 1);
    const waitedMs = await passToNext(world, id);
    const most = Math.min(DAY_MS, waitMs * 1.1);
    assert.ok(waitedMs >= waitMs && waitedMs <= most + 1, `${i}: ${waitedMs}`);
  }
  const log = await deliveriesOf(world, id);
  assert.deepEqual(log.map(({ attempt }) => attempt), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  assert.equal(log[0].next_attempt_at, null);
  for (const row of log) {
    assert.deepEqual([row.status, row.error, row.response], [500, null, "no".repeat(512)]);
    assert.equal(row.type, "message.received");
  }
  const bodies = new Set(receiver.taken.map(({ text }) => text));
  assert.equal(bodies.size, 1);
  for (const taken of receiver.taken) verify(taken, secret);
  assert.equal(receiver.taken[0]!.body.data.message.id, messageId);
  world.relay.clock.advance(2 * DAY_MS);
  await settle(world);
  assert.equal(receiver.taken.length, 10);
  // Ten failures within 3 days are no 5 days.
  const { status, consecutive_failures, last_failure, last_success_at } = await readWebhook(
    world,
    id,
  );
  assert.deepEqual([status, consecutive_failures, last_success_at], ["active", 10, null]);
  assert.deepEqual(last_failure, { at: log[0].at, status: 500, error: null });
  assert.deepEqual(await waiting(world), []);
});

Deno.test("attempts that a process did not live to end are none of the ten", async () => {
  await using world = await startWebhookWorld({ relay: { journalBounds: SAVED_AT_ONCE } });
  const { receiver, relay: { deps: { kv } } } = world;
  receiver.answer = () => new Response(null, { status: 500 });
  const { id } = await newWebhook(world);
  await receiveOne(world);
  const [key] = await rowsOf(world, "outgoing");
  const { value } = await kv.get<OutgoingRow>(key!);
  await kv.set(key!, { ...value, attempts: value!.attempts + 9 });
  assert.equal(Math.floor(await passToNext(world, id) / 5_000), 1);
  const log = await deliveriesOf(world, id);
  assert.deepEqual(log.map(({ attempt }) => attempt), [2, 1]);
  const waitedMs = Date.parse(log[0].next_attempt_at) - Date.parse(log[0].at);
  assert.ok(waitedMs >= WAITS_MS[1]! && waitedMs <= WAITS_MS[1]! * 1.1 + 1, String(waitedMs));
});

Deno.test("a success ends it, and forgets failures", async () => {
  await using world = await startWebhookWorld();
  const { receiver } = world;
  receiver.answer = () => new Response(null, { status: 503 });
  const { id } = await newWebhook(world);
  await receiveOne(world);
  assert.equal((await readWebhook(world, id)).consecutive_failures, 1);
  receiver.answer = () => new Response(null, { status: 204 });
  await passToNext(world, id);
  const { consecutive_failures, last_success_at, last_failure } = await readWebhook(world, id);
  assert.equal(consecutive_failures, 0);
  const [last, first] = await deliveriesOf(world, id);
  assert.deepEqual([last.status, last.attempt, last.next_attempt_at], [204, 2, null]);
  assert.deepEqual([last_success_at, last_failure.at], [last.at, first.at]);
  assert.equal((await recordOf(world, id)).pending, 0);
  assert.deepEqual(await waiting(world), []);
});

Deno.test("Retry-After makes a wait longer, never shorter, up to a day", async () => {
  await using world = await startWebhookWorld();
  const { receiver } = world;
  const { id } = await newWebhook(world);
  const asked = [2, 3_600, 500_000];
  receiver.answer = () =>
    new Response(null, { status: 429, headers: { "Retry-After": String(asked.shift()) } });
  await receiveOne(world);
  const short = await passToNext(world, id);
  assert.ok(short >= 5_000 && short < 6_000);
  assert.equal(await passToNext(world, id), HOUR_MS);
  assert.equal(await passToNext(world, id), DAY_MS);
});

Deno.test("a redirect, a refused connection and an answer that is cut off are failures, and say so", async () => {
  await using world = await startWebhookWorld();
  const { receiver, owner } = world;
  const { id } = await newWebhook(world);
  receiver.answer = () => new Response(null, { status: 307, headers: { Location: "/other" } });
  await queueOne(world, `${id}/test`);
  await settle(world);
  assert.deepEqual(receiver.taken.map(({ path }) => path), ["/hook"]);
  const body = { url: "http://127.0.0.1:9/" };
  accepted(await owner.ask("PATCH", `/v1/mail/webhooks/${id}`, { body }), 200);
  await queueOne(world, `${id}/test`);
  await settle(world);
  const log = await deliveriesOf(world, id);
  assert.deepEqual(log.map(({ status, error }) => [status, error]), [
    [null, "connect"],
    [307, "redirect"],
  ]);
});

Deno.test("410 disables at once; what waits is dropped, nothing is kept, the owner is told once", async () => {
  await using world = await startWebhookWorld();
  const { receiver, owner, relay } = world;
  const { id } = await newWebhook(world);
  receiver.answer = () => new Response(null, { status: 500 });
  await receiveOne(world);
  await receiveOne(world);
  assert.equal((await recordOf(world, id)).pending, 2);
  receiver.answer = () => new Response(null, { status: 410 });
  relay.clock.advance(6_000);
  await settle(world);
  const gone = await readWebhook(world, id);
  assert.deepEqual([gone.status, gone.disabled_reason], ["disabled", "gone"]);
  assert.equal((await recordOf(world, id)).pending, 0);
  // Both were under way, and the second outcome of the two changes nothing.
  const log = await deliveriesOf(world, id);
  assert.deepEqual(log.map(({ status }) => status), [410, 500, 500]);
  assert.equal(log[0].next_attempt_at, null);
  const taken = receiver.taken.length;
  await receiveOne(world);
  relay.clock.advance(DAY_MS);
  await settle(world);
  assert.equal(receiver.taken.length, taken);
  assert.deepEqual(await waiting(world), []);
  const email = `${owner.orgId.toLowerCase()}@example.org`;
  const told = (await takenFor(relay, email)).filter(({ subject }) => subject.includes("webhook"));
  assert.equal(told.length, 1);

  // One attempt, which enables nothing.
  receiver.answer = () => new Response();
  const first = (await deliveriesOf(world, id)).at(-1);
  await queueOne(world, `${id}/deliveries/${first.id}/redeliver`);
  await settle(world);
  assert.equal(receiver.taken.at(-1)!.headers["webhook-id"], first.event_id);
  assert.equal((await readWebhook(world, id)).status, "disabled");

  const enabled = accepted(
    await owner.ask("PATCH", `/v1/mail/webhooks/${id}`, { body: { status: "active" } }),
    200,
  );
  assert.deepEqual(
    [enabled.status, enabled.disabled_reason, enabled.consecutive_failures],
    ["active", null, 0],
  );
  await receiveOne(world);
  assert.equal(receiver.taken.at(-1)!.body.type, "message.received");
});

Deno.test("5 days without a success and ten failed attempts disable; either alone does not", async () => {
  await using world = await startWebhookWorld();
  const { receiver, relay } = world;
  receiver.answer = () => new Response(null, { status: 500 });
  const { id } = await newWebhook(world);
  const fail = async () => {
    await queueOne(world, `${id}/test`);
    await settle(world);
    return await readWebhook(world, id);
  };
  await fail();
  relay.clock.advance(5 * DAY_MS);
  assert.equal((await fail()).status, "active");
  for (let i = 0; i < 7; i++) assert.equal((await fail()).status, "active");
  const failing = await fail();
  assert.deepEqual(
    [failing.status, failing.disabled_reason, failing.consecutive_failures],
    ["disabled", "failing", 10],
  );
  await settle(world);
  const email = `${world.owner.orgId.toLowerCase()}@example.org`;
  const told = (await takenFor(relay, email)).filter(({ subject }) => subject.includes("webhook"));
  assert.equal(told.length, 1);
});

Deno.test("a wall clock that leaps by days disables nothing", async () => {
  await using world = await startWebhookWorld();
  const { receiver, relay } = world;
  receiver.answer = () => new Response(null, { status: 500 });
  const { id } = await newWebhook(world);
  for (let i = 0; i < 12; i++) {
    await queueOne(world, `${id}/test`);
    await settle(world);
    if (i === 0) {
      relay.clock.leap(6 * DAY_MS);
      for (let minutes = 0; minutes < 2; minutes++) {
        await settle(world); // looks at the clock
        relay.clock.advance(MINUTE_MS);
      }
    }
  }
  const { status, consecutive_failures } = await readWebhook(world, id);
  assert.deepEqual([status, consecutive_failures], ["active", 12]);
});

Deno.test("when more than 10,000 deliveries wait, the webhook is disabled", async () => {
  await using world = await startWebhookWorld({ config: { sharedStore: true } });
  const { relay, owner } = world;
  const { id } = await newWebhook(world);
  const wait = async (pending: number) => {
    const record = await recordOf(world, id);
    await relay.deps.kv.set(webhookKey(owner.orgId, id), { ...record, pending });
    await receiveOne(world);
    return await readWebhook(world, id);
  };
  assert.equal((await wait(9_999)).status, "active");
  const full = await wait(10_000);
  assert.deepEqual([full.status, full.disabled_reason], ["disabled", "failing"]);
  assert.equal((await recordOf(world, id)).pending, 0);
});

Deno.test("what is heard goes by event and inbox, to each webhook the same bytes", async () => {
  await using world = await startWebhookWorld();
  const { receiver, owner } = world;
  const url = (name: string) => ({ url: `${receiver.url}/${name}` });
  const [ada, bob] = [await owner.inbox(), await owner.inbox()];
  const secrets: Record<string, string> = {};
  for (
    const [name, body] of Object.entries({
      all: {},
      ada: { inbox_ids: [ada.id] },
      bob: { inbox_ids: [bob.id] },
      sent: { events: ["message.sent"] },
      received: { events: ["message.received"], inbox_ids: [ada.id, bob.id] },
    })
  ) secrets[`/${name}`] = (await newWebhook(world, { ...url(name), ...body })).secret;
  await receiveOne(world, ada);
  assert.deepEqual(receiver.taken.map(({ path }) => path).sort(), ["/ada", "/all", "/received"]);
  assert.equal(new Set(receiver.taken.map(({ text }) => text)).size, 1);
  for (const taken of receiver.taken) verify(taken, secrets[taken.path]!);
  assert.equal(new Set(receiver.taken.map(({ headers }) => headers["webhook-id"])).size, 1);
});

Deno.test("twenty webhooks hear one event, each once, within the ten checks of a KV server", async () => {
  using kv = await openMemoryKv();
  await using world = await startWebhookWorld({
    relay: { capacity: KV_CONNECT_CAPACITY },
    config: { sharedStore: true },
    deps: { kv: createFakeKv({ kv, maxChecks: KV_CONNECT_CAPACITY.checks }) },
  });
  const { receiver } = world;
  for (let i = 0; i < 20; i++) await newWebhook(world, { url: `${receiver.url}/${i}` });
  await receiveOne(world);
  for (let rounds = 0; rounds < 8; rounds++) {
    world.relay.clock.advance(1);
    await settle(world);
  }
  const paths = receiver.taken.map(({ path }: TakenDelivery) => Number(path.slice(1)));
  assert.deepEqual(paths.sort((a, b) => a - b), Array.from({ length: 20 }, (_, i) => i));
});

Deno.test("the log keeps the last hundred attempts", async () => {
  await using world = await startWebhookWorld();
  const { receiver } = world;
  const { id } = await newWebhook(world);
  for (let i = 0; i < 105; i++) {
    receiver.answer = () => new Response(String(i));
    await queueOne(world, `${id}/test`);
    await settle(world);
  }
  const log = await deliveriesOf(world, id);
  assert.deepEqual(
    log.map(({ response }) => response),
    Array.from({ length: 100 }, (_, i) => String(104 - i)),
  );
  const { owner } = world;
  const path = `/v1/mail/webhooks/${id}/deliveries`;
  const first = accepted(await owner.ask("GET", `${path}?limit=60`), 200);
  const cursor = encodeURIComponent(first.next_cursor);
  const second = accepted(await owner.ask("GET", `${path}?limit=60&cursor=${cursor}`), 200);
  assert.deepEqual([...first.data, ...second.data], log);
  assert.equal((await owner.ask("DELETE", `/v1/mail/webhooks/${id}`)).status, 204);
  assert.deepEqual(await rowsOf(world, "mail-webhook"), []);
  assert.deepEqual(await rowsOf(world, "mail-webhook-attempt"), []);
});

Deno.test("an attempt that could not be made, for whatever reason of the relay's, is none of the ten", async () => {
  await using world = await startWebhookWorld({ relay: { journalBounds: SAVED_AT_ONCE } });
  const { receiver, relay } = world;
  receiver.answer = () => new Response(null, { status: 500 });
  const { id } = await newWebhook(world);
  await receiveOne(world);
  const { kv } = relay.deps;
  const [key] = await rowsOf(world, "mail-event");
  const { value } = await kv.get<object>(key!);
  await kv.set(key!, { ...value, body: {} });
  for (let i = 0; i < 12; i++) {
    relay.clock.advance(MINUTE_MS);
    await settle(world);
  }
  assert.ok(relay.logged.filter(({ event }) => event === "outgoing_failed").length >= 12);
  assert.equal(receiver.taken.length, 1);
  await kv.set(key!, value);
  relay.clock.advance(MINUTE_MS);
  await settle(world);
  const log = await deliveriesOf(world, id);
  assert.deepEqual(log.map(({ attempt }) => attempt), [2, 1]);
  const waitMs = Date.parse(log[0].next_attempt_at) - Date.parse(log[0].at);
  assert.ok(waitMs >= 5 * MINUTE_MS && waitMs < 6 * MINUTE_MS, String(waitMs));
});

Deno.test("a webhook that is enabled and answers 410 again and again mails its owner twenty times a day", async () => {
  await using world = await startWebhookWorld();
  const { receiver, owner, relay } = world;
  receiver.answer = () => new Response(null, { status: 410 });
  const { id } = await newWebhook(world);
  const disable = async () => {
    const body = { status: "active" };
    accepted(await owner.ask("PATCH", `/v1/mail/webhooks/${id}`, { body }), 200);
    await queueOne(world, `${id}/test`);
    await settle(world);
    assert.equal((await readWebhook(world, id)).disabled_reason, "gone");
  };
  const email = `${owner.orgId.toLowerCase()}@example.org`;
  const told = async () =>
    (await takenFor(relay, email)).filter(({ subject }) => subject.includes("webhook")).length;
  for (let i = 0; i < 23; i++) await disable();
  assert.equal(await told(), 20);
  relay.clock.advance(DAY_MS + 1);
  await disable();
  assert.equal(await told(), 21);
});
