/** The routes of webhooks: what they take, what they show, and who is refused what. */
import assert from "node:assert/strict";
import { parseConfig } from "../../../server/base/config/config.ts";
import { EVENT_TYPES } from "../../../server/mail/records/event_record.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { newSendingOrg } from "../../support/sending_org.ts";
import {
  deliveriesOf,
  newWebhook,
  queueOne,
  readWebhook,
  settle,
  startWebhookWorld,
  verify,
} from "../../support/webhook_world.ts";

const ROOT = "/v1/mail/webhooks";

Deno.test("a webhook is made with a secret that is shown once, read, listed, changed, deleted", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver } = world;
  const made = await newWebhook(world);
  const { secret, ...record } = made;
  assert.match(secret, /^rmwh_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(record, {
    id: record.id,
    url: `${receiver.url}/hook`,
    events: [...EVENT_TYPES],
    inbox_ids: [],
    status: "active",
    disabled_reason: null,
    consecutive_failures: 0,
    last_success_at: null,
    last_failure: null,
    created_at: record.created_at,
  });
  assert.deepEqual(await readWebhook(world, made.id), record);
  const inbox = await owner.inbox();
  const other = await newWebhook(world, {
    url: "https://LOCALHOST:8443/ä?x=1",
    events: ["message.sent", "message.received", "message.sent"],
    inbox_ids: [inbox.address, inbox.id],
  });
  assert.deepEqual(
    [other.url, other.events, other.inbox_ids],
    ["https://localhost:8443/%C3%A4?x=1", ["message.received", "message.sent"], [inbox.id]],
  );
  const list = accepted(await owner.ask("GET", ROOT), 200);
  assert.deepEqual(list.data.map(({ id }: { id: string }) => id), [made.id, other.id].sort());
  const first = accepted(await owner.ask("GET", `${ROOT}?limit=1`), 200);
  const next = encodeURIComponent(first.next_cursor);
  const second = accepted(await owner.ask("GET", `${ROOT}?limit=1&cursor=${next}`), 200);
  assert.deepEqual([...first.data, ...second.data], list.data);
  assert.equal(second.next_cursor, null);

  const changed = accepted(
    await owner.ask("PATCH", `${ROOT}/${other.id}`, {
      body: { url: "http://[::1]:9/b", inbox_ids: [] },
    }),
    200,
  );
  assert.deepEqual(
    [changed.url, changed.events, changed.inbox_ids],
    ["http://[::1]:9/b", ["message.received", "message.sent"], []],
  );
  assert.equal((await owner.ask("DELETE", `${ROOT}/${other.id}`)).status, 204);
  for (const [method, path] of [["GET", ""], ["PATCH", ""], ["DELETE", ""], ["POST", "/test"]]) {
    assertMailRefused(await owner.ask(method!, `${ROOT}/${other.id}${path}`), "not_found");
  }
});

Deno.test("what is no webhook is refused, by its field", async () => {
  await using world = await startWebhookWorld();
  const { owner } = world;
  const nowhere = "http://127.0.0.1:9/";
  const inboxes = Array.from({ length: 51 }, () => "ibx_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  const refused: [unknown, RegExp][] = [
    ["[]", /object/],
    [{}, /url is required/],
    [{ url: 1 }, /url is required/],
    // Local mode posts to this machine alone.
    [{ url: "https://example.com/" }, /url .* on this machine/],
    [{ url: "https://user:x@localhost/" }, /user or a password/],
    [{ url: nowhere, events: [] }, /one or more of/],
    [{ url: nowhere, events: ["message.opened"] }, /message\.received/],
    [{ url: nowhere, events: "message.sent" }, /array/],
    [{ url: nowhere, inbox_ids: inboxes }, /at most 50/],
    [{ url: nowhere, inbox_ids: ["x"] }, /ids or addresses/],
    [{ url: nowhere, client_id: "a b" }, /client_id/],
  ];
  for (const [body, words] of refused) {
    assertMailRefused(await owner.ask("POST", ROOT, { body }), "invalid_json", words);
  }
  const unknown = { url: nowhere, inbox_ids: ["ibx_01ARZ3NDEKTSV4RRFFQ69G5FAV"] };
  assertMailRefused(await owner.ask("POST", ROOT, { body: unknown }), "not_found");
  const { id } = await newWebhook(world);
  for (
    const body of [
      { status: "disabled" },
      { status: null },
      { url: null },
      { events: null },
      { inbox_ids: null },
      { client_id: "x" },
      { secret: "x" },
    ]
  ) {
    assertMailRefused(await owner.ask("PATCH", `${ROOT}/${id}`, { body }), "invalid_json");
  }
});

Deno.test("a client_id finds what was made, until it is deleted; an org has so many webhooks", async () => {
  await using world = await startWebhookWorld({ limits: { mailWebhooksPerOrg: 2 } });
  const { owner, receiver } = world;
  const made = await newWebhook(world, { client_id: "one" });
  const again = { url: `${receiver.url}/other`, client_id: "one" };
  const found = accepted(await owner.ask("POST", ROOT, { body: again }), 200);
  assert.deepEqual([found.id, found.url, found.secret], [made.id, made.url, undefined]);
  // An inbox of the same client_id is another thing.
  await owner.inbox({ client_id: "one" });
  await newWebhook(world);
  const third = { url: receiver.url };
  assertMailRefused(await owner.ask("POST", ROOT, { body: third }), "webhook_limit_reached", /2/);
  accepted(await owner.ask("POST", ROOT, { body: again }), 200);
  assert.equal((await owner.ask("DELETE", `${ROOT}/${made.id}`)).status, 204);
  assert.equal((await newWebhook(world, { client_id: "one" })).status, "active");
});

Deno.test("a key that only writes is not shown where a webhook goes", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver } = world;
  const writer = owner.with(
    (await owner.newKey({ name: "w", permissions: ["inbox:write"] })).api_key,
  );
  const { id } = await newWebhook(world, { client_id: "mine" });
  const named = { body: { url: receiver.url, client_id: "mine" } };
  for (
    const answer of [
      await writer.ask("POST", ROOT, named),
      await writer.ask("PATCH", `${ROOT}/${id}`, { body: { events: ["draft.sent"] } }),
      await writer.ask("POST", `${ROOT}/${id}/rotate`),
    ]
  ) {
    assert.equal("url" in accepted(answer, 200), false);
  }
});

Deno.test("a test is one signed delivery, which the log shows; it can be delivered again", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver } = world;
  const { id, secret } = await newWebhook(world, { events: ["draft.sent"] });
  const eventId = await queueOne(world, `${id}/test`);
  await settle(world);
  const [taken] = receiver.taken;
  assert.deepEqual(verify(taken!, secret), {
    id: eventId,
    type: "webhook.test",
    timestamp: new Date(taken!.atMs).toISOString(),
    org_id: owner.orgId,
    inbox_id: null,
    data: {},
  });
  assert.equal(taken!.headers["webhook-id"], eventId);
  assert.equal(taken!.headers["content-type"], "application/json");
  const [row] = await deliveriesOf(world, id);
  assert.deepEqual(row, {
    id: row.id,
    event_id: eventId,
    type: "webhook.test",
    attempt: 1,
    at: new Date(taken!.atMs).toISOString(),
    duration_ms: row.duration_ms,
    status: 200,
    error: null,
    response: "thanks",
    next_attempt_at: null,
  });
  assert.equal((await readWebhook(world, id)).last_success_at, row.at);
  world.relay.clock.advance(60_000);
  assert.equal(await queueOne(world, `${id}/deliveries/${row.id}/redeliver`), eventId);
  await settle(world);
  const [, again] = receiver.taken;
  assert.equal(again!.text, taken!.text);
  assert.equal(again!.headers["webhook-id"], eventId);
  assert.notEqual(again!.headers["webhook-timestamp"], taken!.headers["webhook-timestamp"]);
  verify(again!, secret);
  assert.equal((await deliveriesOf(world, id)).length, 2);
  const unknown = `${ROOT}/${id}/deliveries/dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV/redeliver`;
  assertMailRefused(await owner.ask("POST", unknown), "not_found");
});

Deno.test("for a day after a rotation both secrets sign, the new one first", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver, relay } = world;
  const { id, secret: former } = await newWebhook(world);
  const rotated = accepted(await owner.ask("POST", `${ROOT}/${id}/rotate`), 200);
  const { secret } = rotated;
  assert.notEqual(secret, former);
  const deliver = async () => {
    await queueOne(world, `${id}/test`);
    await settle(world);
    return receiver.taken.at(-1)!;
  };
  const both = await deliver();
  verify(both, secret);
  verify(both, former);
  const values = both.headers["webhook-signature"]!.split(" ");
  assert.equal(values.length, 2);
  const first = { ...both, headers: { ...both.headers, "webhook-signature": values[0]! } };
  verify(first, secret);
  assert.throws(() => verify(first, former));
  relay.clock.advance(24 * 3_600_000);
  const one = await deliver();
  verify(one, secret);
  assert.throws(() => verify(one, former));
  assert.equal(one.headers["webhook-signature"]!.split(" ").length, 1);
});

Deno.test("so many tests and redeliveries wait, and no more", async () => {
  await using world = await startWebhookWorld();
  const { owner, receiver } = world;
  const held = Promise.withResolvers<void>();
  receiver.answer = async () => {
    await held.promise;
    return new Response();
  };
  const { id } = await newWebhook(world);
  for (let i = 0; i < 20; i++) await queueOne(world, `${id}/test`);
  const refused = await owner.ask("POST", `${ROOT}/${id}/test`);
  assertMailRefused(refused, "rate_limited", /20/);
  assert.ok(refused.body.retry_after_ms > 0);
  held.resolve();
  await settle(world);
  assert.equal(receiver.taken.length, 20);
  await queueOne(world, `${id}/test`);
  await settle(world);
});

Deno.test("with RELAY_WEBHOOKS=false no webhook is made, the others stay, and start-up says so", async () => {
  const mail = { ...parseConfig({ RELAY_MAIL_DEV: "true" }).mail, webhooks: false };
  await using relay = await startMailRelay({ config: { mail } });
  const owner = await newSendingOrg(relay);
  const body = { url: "http://127.0.0.1:9/" };
  assertMailRefused(await owner.ask("POST", ROOT, { body }), "mail_disabled", /webhooks are off/);
  assert.deepEqual(accepted(await owner.ask("GET", ROOT), 200).data, []);
  assert.ok(relay.relay.startupNotes().some((note) => note.includes("RELAY_WEBHOOKS is false")));
});
