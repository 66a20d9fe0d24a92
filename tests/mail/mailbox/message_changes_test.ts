/** PATCH and DELETE of messages, PATCH of threads: what is refused, and what the counts say after. */
import assert from "node:assert/strict";
import { type InboundRig, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { copyMessages } from "../../support/message_rows.ts";

const patch = ({ holder }: InboundRig, path: string, body: unknown) =>
  holder.ask("PATCH", path, { body });

Deno.test("PATCH message: unknown fields and bad values are 400 and change nothing", async () => {
  await using rig = await startInboundRig();
  const id = await rig.store();
  const path = `/v1/mail/messages/${id}`;
  const before = await rig.get(path);
  const bad: [body: unknown, told: RegExp][] = [
    [{ read: true, flagged: true }, /flagged/],
    [{ labels: ["a"] }, /labels/],
    [{ constructor: 1 }, /constructor/],
    [{ read: null }, /read/],
    [{ read: "true" }, /read/],
    [{ read: 1 }, /read/],
    [{ add_labels: "a" }, /add_labels/],
    [{ add_labels: null }, /add_labels/],
    [{ add_labels: [1] }, /add_labels\[0\]/],
    [{ add_labels: ["a", "A"] }, /add_labels\[1\]/],
    [{ add_labels: [""] }, /add_labels\[0\]/],
    [{ add_labels: ["x".repeat(33)] }, /add_labels\[0\]/],
    [{ add_labels: ["a b"] }, /add_labels\[0\]/],
    [{ add_labels: ["a\n"] }, /add_labels\[0\]/],
    [{ remove_labels: ["é"] }, /remove_labels\[0\]/],
    [{ add_labels: Array.from({ length: 21 }, (_, i) => `l${i}`) }, /20/],
    [[], /object/],
    ["x", /./],
    ["", /body/],
  ];
  assert.ok(bad.length > 0);
  for (const [body, told] of bad) {
    assertMailRefused(await patch(rig, path, body), "invalid_json", told);
  }
  assert.deepEqual(await rig.get(path), before);
});

Deno.test("PATCH message: labels and read as asked, each label once, 20 a message", async () => {
  await using rig = await startInboundRig();
  const id = await rig.store();
  const path = `/v1/mail/messages/${id}`;
  const most = Array.from(
    { length: 20 },
    (_, i) => `${"x".repeat(29)}-${String(i).padStart(2, "0")}`,
  );
  const labelled = accepted(await patch(rig, path, { add_labels: [...most, most[0]] }), 200);
  assert.deepEqual(labelled.labels, most);
  assert.equal(labelled.read, false);
  assertMailRefused(await patch(rig, path, { add_labels: ["one-more"] }), "invalid_json", /20/);
  const moved = accepted(
    await patch(rig, path, { read: true, add_labels: ["a_b"], remove_labels: [most[3], "absent"] }),
    200,
  );
  assert.deepEqual(moved.labels, [...most.filter((one) => one !== most[3]), "a_b"]);
  assert.equal(moved.read, true);
  assert.deepEqual(accepted(await patch(rig, path, {}), 200), moved);
  assert.deepEqual(await rig.get(path), moved);
  // Added and taken in one request: taken.
  const both = accepted(await patch(rig, path, { add_labels: ["z"], remove_labels: ["z"] }), 200);
  assert.ok(!both.labels.includes("z"));
});

Deno.test("PATCH message: one's own outbound message stays read, its labels change", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store();
  const [id] = await copyMessages(
    rig.kv,
    { orgId: rig.holder.orgId, inboxId: rig.inbox.id, id: first },
    1,
    () => ({ direction: "outbound", read: true }),
  );
  const path = `/v1/mail/messages/${id}`;
  const changed = accepted(await patch(rig, path, { read: false, add_labels: ["a"] }), 200);
  assert.deepEqual([changed.read, changed.labels], [true, ["a"]]);
  assert.equal((await rig.get(`/v1/mail/inboxes/${rig.inbox.id}`)).unread_count, 1);
  const { thread_id } = changed;
  const thread = accepted(await patch(rig, `/v1/mail/threads/${thread_id}`, { read: false }), 200);
  assert.equal(thread.unread_count, 1);
  assert.equal((await rig.get(path)).read, true);
});

Deno.test("messages and threads of others are 404 to read, change and delete", async () => {
  await using rig = await startInboundRig();
  const id = await rig.store();
  const { thread_id: thread } = await rig.get(`/v1/mail/messages/${id}`);
  const other = await rig.holder.inbox({ local_part: "grace" });
  const { api_key } = await rig.holder.newKey({ name: "g", scope: "inbox", inbox_id: other.id });
  const strangers = [await newOrg(rig.relay), rig.holder.with(api_key)];
  const calls: [method: string, path: string, body?: unknown][] = [
    ["GET", `/v1/mail/messages/${id}`],
    ["GET", `/v1/mail/messages/${id}/raw`],
    ["GET", `/v1/mail/messages/${id}/attachments/att_0`],
    ["PATCH", `/v1/mail/messages/${id}`, { nonsense: true }],
    ["GET", `/v1/mail/threads/${thread}`],
    ["PATCH", `/v1/mail/threads/${thread}`, { nonsense: true }],
    ["GET", `/v1/mail/inboxes/${rig.inbox.id}/messages`],
    ["GET", `/v1/mail/inboxes/${rig.inbox.id}/threads`],
  ];
  assert.ok(calls.length > 0);
  for (const stranger of strangers) {
    for (const [method, path, body] of calls) {
      assertMailRefused(await stranger.ask(method, path, { body }), "not_found");
    }
  }
  assertMailRefused(await strangers[0]!.ask("DELETE", `/v1/mail/messages/${id}`), "not_found");
  // DELETE is for org-scoped keys: said before anybody looks for the message.
  assertMailRefused(
    await strangers[1]!.ask("DELETE", `/v1/mail/messages/${id}`),
    "insufficient_permission",
  );
  const odd = [
    "msg_",
    "thr_x",
    `thr_${id.slice(4)}`,
    "msg_%2e%2e",
    "MSG_01",
    `${id}x`,
    "__proto__",
  ];
  for (const one of odd) {
    assertMailRefused(await rig.holder.ask("GET", `/v1/mail/messages/${one}`), "not_found");
    assertMailRefused(await rig.holder.ask("GET", `/v1/mail/threads/${one}`), "not_found");
  }
});

Deno.test("DELETE message: thread, counts, storage and file follow; the second time it is 404", async () => {
  await using rig = await startInboundRig();
  const text = (i: number) => ({
    headers: {
      "Message-ID": `<m${i}@else.test>`,
      ...(i === 0 ? {} : { "In-Reply-To": "<m0@else.test>" }),
      Subject: `n ${i}`,
    },
    text: `text ${i}`,
  });
  const ids: string[] = [];
  const bytes = [await rig.storedBytes()];
  for (let i = 0; i < 3; i++) {
    rig.relay.clock.advance(1_000);
    ids.push(await rig.store(text(i)));
    bytes.push(await rig.storedBytes());
  }
  const { thread_id } = await rig.get(`/v1/mail/messages/${ids[0]}`);
  const threadPath = `/v1/mail/threads/${thread_id}`;
  const inboxPath = `/v1/mail/inboxes/${rig.inbox.id}`;
  const remove = (i: number) => rig.holder.ask("DELETE", `/v1/mail/messages/${ids[i]}`);

  accepted(await remove(2), 204);
  let thread = await rig.get(threadPath);
  assert.deepEqual(
    [thread.message_count, thread.unread_count, thread.last_message_id, thread.preview],
    [2, 2, ids[1], "text 1"],
  );
  assert.equal(await rig.storedBytes(), bytes[3], "bytes count until they are swept");
  assert.equal((await rig.get(`${inboxPath}/threads`)).data.length, 1);

  accepted(await patch(rig, `/v1/mail/messages/${ids[0]}`, { read: true }), 200);
  accepted(await remove(0), 204);
  thread = await rig.get(threadPath);
  assert.deepEqual(
    [thread.message_count, thread.unread_count, thread.last_message_id, thread.subject],
    [1, 1, ids[1], "n 0"],
  );
  assert.equal((await rig.get(inboxPath)).unread_count, 1);

  accepted(await remove(1), 204);
  assertMailRefused(await rig.holder.ask("GET", threadPath), "not_found");
  assert.deepEqual((await rig.get(`${inboxPath}/threads`)).data, []);
  assert.equal((await rig.get(inboxPath)).unread_count, 0);
  assert.equal(await rig.storedBytes(), bytes[3]);
  assertMailRefused(await remove(1), "not_found");
  for (
    const prefix of [
      "mail-message",
      "mail-index",
      "mail-object",
      "mail-thread",
      "mail-rfc-id",
      "mail-thread-order",
    ]
  ) {
    const rows = await Array.fromAsync(rig.kv.list({ prefix: [prefix] }));
    assert.equal(rows.length, 0, prefix);
  }
  assert.equal((await Array.fromAsync(rig.kv.list({ prefix: ["blob-deletion"] }))).length, 3);
  rig.relay.clock.advance(3_600_000);
  await rig.relay.relay.crons["figures"]!();
  assert.equal(await rig.storedBytes(), 0);
  assert.equal((await Array.fromAsync(rig.kv.list({ prefix: ["blob"] }))).length, 0);
});

Deno.test("DELETE message: an answer to one that is gone begins a thread, to one that is left joins it", async () => {
  await using rig = await startInboundRig();
  const answer = (to: string, references = "") => ({
    headers: { "In-Reply-To": to, ...(references === "" ? {} : { References: references }) },
  });
  const first = await rig.store({ headers: { "Message-ID": "<a@else.test>" } });
  const second = await rig.store({
    headers: { "Message-ID": "<b@else.test>", "In-Reply-To": "<a@else.test>" },
  });
  accepted(await rig.holder.ask("DELETE", `/v1/mail/messages/${first}`), 204);
  const threadOf = async (id: string) => (await rig.get(`/v1/mail/messages/${id}`)).thread_id;
  const thread = await threadOf(second);
  assert.notEqual(await threadOf(await rig.store(answer("<a@else.test>"))), thread);
  assert.equal(await threadOf(await rig.store(answer("<b@else.test>"))), thread);
  const byReferences = answer("<none@else.test>", "<b@else.test> <c@else.test>");
  assert.equal(await threadOf(await rig.store(byReferences)), thread);
  // Another inbox has threads of its own.
  const other = await rig.holder.inbox({ local_part: "grace" });
  await rig.store(answer("<b@else.test>"), { to: [other.address] });
  const { data: [theirs] } = await rig.get(`/v1/mail/inboxes/${other.id}/threads`);
  assert.notEqual(theirs.id, thread);
});

Deno.test("two messages under one Message-ID are two, and each is found", async () => {
  await using rig = await startInboundRig();
  const headers = { "Message-ID": "<same@else.test>" };
  const first = await rig.store({ headers, text: "one" });
  const second = await rig.store({ headers, text: "two" });
  assert.notEqual(first, second);
  accepted(await rig.holder.ask("DELETE", `/v1/mail/messages/${second}`), 204);
  const answer = await rig.store({ headers: { "In-Reply-To": "<same@else.test>" } });
  const { thread_id } = await rig.get(`/v1/mail/messages/${answer}`);
  assert.equal((await rig.get(`/v1/mail/messages/${first}`)).thread_id, thread_id);
});

Deno.test("PATCH thread: bad bodies are 400; 1,000 messages are marked and counted", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store();
  const { thread_id } = await rig.get(`/v1/mail/messages/${first}`);
  const original = { orgId: rig.holder.orgId, inboxId: rig.inbox.id, id: first };
  await copyMessages(rig.kv, original, 999);
  const path = `/v1/mail/threads/${thread_id}`;
  const bad = [{}, { read: null }, { read: "x" }, { read: true, labels: [] }, []];
  for (const body of bad) assertMailRefused(await patch(rig, path, body), "invalid_json");
  for (const read of [true, false, true]) {
    const thread = accepted(await patch(rig, path, { read }), 200);
    assert.equal(thread.message_count, 1_000);
    const { unread_count } = await rig.get(`/v1/mail/inboxes/${rig.inbox.id}`);
    assert.equal(thread.unread_count, unread_count);
    assert.equal(unread_count, read ? 0 : 1_000);
  }
});
