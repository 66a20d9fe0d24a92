/** Polls of an inbox that wait: what ends them. */
import assert from "node:assert/strict";
import { mailText } from "../../support/inbound_mail.ts";
import { type InboundRig, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused, MailKeyHolder } from "../../support/mail_caller.ts";
import { delay, settlesWithin } from "../../support/pace.ts";

/** A waiting poll that is known to wait. */
async function waiting(rig: InboundRig, query: string, holder: MailKeyHolder = rig.holder) {
  const path = `/v1/mail/inboxes/${rig.inbox.id}/messages?order=asc&${query}`;
  const arrived = rig.relay.nextRequests();
  const poll = holder.ask("GET", path);
  await arrived;
  assert.ok(!await settlesWithin(poll, 50), "the poll did not wait");
  return { poll };
}

Deno.test("a waiting poll ends with a message, and only with one that its filters let through", async () => {
  await using rig = await startInboundRig();
  const { poll: plain } = await waiting(rig, "wait=25");
  const { poll: coded } = await waiting(rig, "wait=25&has_code=true");
  accepted(await rig.deliver(), 200);
  assert.equal(accepted(await plain, 200).data.length, 1);
  assert.ok(!await settlesWithin(coded, 50));
  accepted(await rig.deliver({ raw: mailText({ text: "Your code is 482913." }) }), 200);
  const { data, next_cursor } = accepted(await coded, 200);
  assert.equal(data.length, 1);
  assert.equal(data[0].codes[0].value, "482913");
  assert.equal(typeof next_cursor, "string");
});

Deno.test("a wait is clamped to 0 and 25, and a poll downwards that would wait is refused", async () => {
  await using rig = await startInboundRig();
  const path = `/v1/mail/inboxes/${rig.inbox.id}/messages`;
  const queries = ["?order=asc&wait=-5", "?order=asc&wait=0", "?wait=0", "?order=desc"];
  assert.ok(queries.length > 0);
  for (const query of queries) {
    const answer = rig.holder.ask("GET", `${path}${query}`);
    assert.ok(await settlesWithin(answer, 5_000), query);
    assert.equal(accepted(await answer, 200).data.length, 0);
  }
  for (const query of ["?wait=25", "?order=desc&wait=1"]) {
    const answer = await rig.holder.ask("GET", `/v1/mail/inboxes/${rig.inbox.id}/messages${query}`);
    assertMailRefused(answer, "invalid_json", /order=asc/);
  }
  const { poll: long } = await waiting(rig, "wait=99999999999999999999");
  accepted(await rig.deliver(), 200);
  assert.equal(accepted(await long, 200).data.length, 1);
});

Deno.test("a wait whose time is over answers an empty page whose cursor misses nothing", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store();
  const { next_cursor: from } = await rig.list("?order=asc");
  const empty = await rig.list(`?order=asc&wait=1&cursor=${from}`);
  assert.deepEqual(empty.data, []);
  const second = await rig.store();
  const page = await rig.list(`?order=asc&wait=1&cursor=${empty.next_cursor}`);
  assert.deepEqual(page.data.map(({ id }: { id: string }) => id), [second]);
  assert.notEqual(first, second);
});

Deno.test("a wait ends with 401 when its key is deleted meanwhile, and shows no message", async () => {
  await using rig = await startInboundRig();
  const { id, api_key } = await rig.holder.newKey({ name: "short-lived" });
  const { poll } = await waiting(rig, "wait=25", rig.holder.with(api_key));
  accepted(await rig.holder.ask("DELETE", `/v1/mail/api-keys/${id}`), 204);
  accepted(await rig.deliver(), 200);
  assertMailRefused(await poll, "unknown_key");
});

Deno.test("a wait at an inbox that is deleted meanwhile ends, and later polls are 404", async () => {
  await using rig = await startInboundRig();
  const { poll } = await waiting(rig, "wait=2");
  accepted(await rig.holder.ask("DELETE", `/v1/mail/inboxes/${rig.inbox.id}`), 204);
  const { status } = await poll;
  assert.ok(status === 200 || status === 404, String(status));
  const path = `/v1/mail/inboxes/${rig.inbox.id}/messages?order=asc&wait=25`;
  assertMailRefused(await rig.holder.ask("GET", path), "not_found");
});

Deno.test("waits end at shutdown, with an empty page and the cursor they began at", async () => {
  await using rig = await startInboundRig();
  await rig.store();
  const { next_cursor: from } = await rig.list("?order=asc");
  const polls = [
    await waiting(rig, `wait=25&cursor=${from}`),
    await waiting(rig, `wait=25&has_code=true`),
  ];
  rig.relay.relay.endWaits();
  const [first, second] = await Promise.all(polls.map(({ poll }) => poll));
  assert.deepEqual(accepted(first!, 200), { data: [], next_cursor: from });
  assert.deepEqual(accepted(second!, 200).data, []);
});

Deno.test("fifty polls of one inbox end with one message, and clients that left are forgotten", async () => {
  await using rig = await startInboundRig();
  const stop = new AbortController();
  const arrived = rig.relay.nextRequests(60);
  const path = `${rig.relay.url}/v1/mail/inboxes/${rig.inbox.id}/messages?order=asc&wait=25`;
  const headers = { Authorization: `Bearer ${rig.holder.key}` };
  const left = Array.from(
    { length: 10 },
    () => fetch(path, { headers, signal: stop.signal }).catch(() => null),
  );
  const stay = Array.from({ length: 50 }, async () => {
    const answer = await fetch(path, { headers });
    return await answer.json();
  });
  await arrived;
  await delay(50);
  stop.abort();
  assert.ok((await Promise.all(left)).every((answer) => answer === null));
  accepted(await rig.deliver(), 200);
  const pages = await Promise.all(stay);
  assert.equal(pages.length, 50);
  for (const { data } of pages) assert.equal(data.length, 1);
});
