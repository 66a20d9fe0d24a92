/** Live streams of an inbox over HTTP: events, resuming, filters, places and their ends. */
import assert from "node:assert/strict";
import { type EventStream, openStream } from "../../support/event_stream.ts";
import { mailText } from "../../support/inbound_mail.ts";
import { type InboundRig, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { copyMessages } from "../../support/message_rows.ts";
import { delay, settlesWithin } from "../../support/pace.ts";

const urlOf = ({ relay, inbox }: InboundRig, query = "") =>
  `${relay.url}/v1/mail/inboxes/${inbox.id}/messages?order=asc${query}`;

Deno.test("a stream begins now, and each message is an event as the list has it", async () => {
  await using rig = await startInboundRig();
  await rig.store();
  await using stream = await openStream(urlOf(rig), rig.holder.key);
  assert.equal(stream.status, 200);
  assert.match(stream.headers.get("content-type")!, /^text\/event-stream/);
  assert.equal(stream.headers.get("cache-control"), "no-store");
  const ids: string[] = [];
  const cursors: string[] = [];
  for (let i = 0; i < 3; i++) {
    accepted(await rig.deliver({ raw: mailText({ headers: { Subject: `n ${i}\u2028` } }) }), 200);
    const event = await stream.next();
    assert.equal(event!.event, "message");
    assert.deepEqual(event!.data, (await rig.list("?limit=1")).data[0]);
    ids.push(event!.data.id);
    cursors.push(event!.id!);
  }
  // The id of an event is a cursor of the list, and the place at which a stream resumes.
  const page = await rig.list(`?order=asc&cursor=${cursors[0]}`);
  assert.deepEqual(page.data.map(({ id }: { id: string }) => id), ids.slice(1));
  const resume = { "Last-Event-ID": cursors[0]! };
  await using resumed = await openStream(urlOf(rig), rig.holder.key, resume);
  assert.deepEqual(
    [(await resumed.next())!.data.id, (await resumed.next())!.data.id],
    ids.slice(1),
  );
  await using byCursor = await openStream(urlOf(rig, `&cursor=${cursors[1]}`), rig.holder.key);
  assert.equal((await byCursor.next())!.data.id, ids[2]);
});

Deno.test("a stream with filters gives what they let through, and its ids are bound to them", async () => {
  await using rig = await startInboundRig();
  await using stream = await openStream(urlOf(rig, "&has_code=true"), rig.holder.key);
  accepted(await rig.deliver(), 200);
  accepted(await rig.deliver({ raw: mailText({ text: "Your code is 482913." }) }), 200);
  const event = await stream.next();
  assert.equal(event!.data.codes[0].value, "482913");
  const headers = { "Last-Event-ID": event!.id! };
  const other = await openStream(urlOf(rig), rig.holder.key, headers);
  assert.equal(other.status, 400);
  await other.close();
  const nonsense = await openStream(urlOf(rig), rig.holder.key, { "Last-Event-ID": "7" });
  assert.equal(nonsense.status, 400);
  await nonsense.close();
});

Deno.test("a stream takes order=asc and a key that may read; HEAD and desc are no streams", async () => {
  await using rig = await startInboundRig();
  const down = await openStream(urlOf(rig).replace("asc", "desc"), rig.holder.key);
  assert.match(down.headers.get("content-type")!, /json/);
  await down.close();
  const unknown = await openStream(urlOf(rig), "nonsense");
  assert.equal(unknown.status, 401);
  await unknown.close();
  const refused = await openStream(urlOf(rig), rig.holder.key, { Accept: "text/event-streams" });
  assert.match(refused.headers.get("content-type")!, /json/);
  await refused.close();
  const accept = "application/json;q=0.5, TEXT/Event-Stream ; q=1";
  await using mixed = await openStream(urlOf(rig), rig.holder.key, { Accept: accept });
  assert.match(mixed.headers.get("content-type")!, /event-stream/);
});

Deno.test("an org has 10 streams, then 429; one that ends makes room, another org has its own", async () => {
  await using rig = await startInboundRig();
  const streams: EventStream[] = [];
  for (let i = 0; i < 10; i++) streams.push(await openStream(urlOf(rig), rig.holder.key));
  assert.ok(streams.every(({ status }) => status === 200));
  const path = urlOf(rig).slice(rig.relay.url.length);
  const headers = { Accept: "text/event-stream" };
  const refused = await rig.holder.ask("GET", path, { headers });
  assertMailRefused(refused, "rate_limited");
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  // A list is no stream, and other orgs are not concerned.
  accepted(await rig.holder.ask("GET", path), 200);
  const stranger = await newOrg(rig.relay);
  const theirs = await stranger.inbox();
  await using other = await openStream(
    `${rig.relay.url}/v1/mail/inboxes/${theirs.id}/messages?order=asc`,
    stranger.key,
  );
  assert.equal(other.status, 200);
  await streams[0]!.close();
  for (;;) {
    const again = await openStream(urlOf(rig), rig.holder.key);
    streams.push(again);
    if (again.status === 200) break;
    await delay(10);
  }
  for (const stream of streams) await stream.close();
});

Deno.test("a stream ends when its key is deleted, before it shows another message", async () => {
  await using rig = await startInboundRig();
  const { id, api_key } = await rig.holder.newKey({ name: "short-lived" });
  await using stream = await openStream(urlOf(rig), api_key);
  accepted(await rig.deliver(), 200);
  assert.notEqual(await stream.next(), null);
  accepted(await rig.holder.ask("DELETE", `/v1/mail/api-keys/${id}`), 204);
  accepted(await rig.deliver(), 200);
  assert.equal(await stream.next(), null);
});

Deno.test("streams end at shutdown, and later ones end as they begin", async () => {
  await using rig = await startInboundRig();
  await using stream = await openStream(urlOf(rig), rig.holder.key);
  const end = stream.next();
  assert.ok(!await settlesWithin(end, 50));
  rig.relay.relay.endWaits();
  assert.equal(await end, null);
  await using late = await openStream(urlOf(rig), rig.holder.key);
  if (late.status === 200) assert.equal(await late.next(), null);
  else assert.equal(late.status, 503);
});

Deno.test("a client that does not read holds up nobody, and reads all of it later", async () => {
  await using rig = await startInboundRig({ limits: { mailInboundPerInboxPerHour: 10_000 } });
  const first = await rig.store({ headers: { Subject: "x".repeat(900) } });
  const { next_cursor: cursor } = await rig.list("?order=asc&limit=1");
  await using idle = await openStream(urlOf(rig, `&cursor=${cursor}`), rig.holder.key);
  const original = { orgId: rig.holder.orgId, inboxId: rig.inbox.id, id: first };
  const ids = await copyMessages(rig.kv, original, 3_000);
  await using eager = await openStream(urlOf(rig, `&cursor=${cursor}`), rig.holder.key);
  for (const id of ids) assert.equal((await eager.next())!.data.id, id);
  accepted(await rig.deliver(), 200);
  assert.notEqual(await eager.next(), null);
  // The idle one was sent no more than its connection took; now it takes the rest.
  for (const id of ids) assert.equal((await idle.next())!.data.id, id);
});
