/** Drafts by the API: made, read, changed, listed, discarded, sent. */
import assert from "node:assert/strict";
import {
  approvalMails,
  LETTER,
  makeDraftWorld,
  newDraft,
  newestApproval,
  sentMessages,
} from "../../support/draft_world.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";

const FILE = { filename: "a.txt", content_type: "text/plain", content: btoa("one") };
const OTHER = { filename: "b.txt", content_type: "text/plain", content: btoa("other") };

Deno.test("a draft is made, read, changed, listed, and discarded with all that it kept", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay, { inbox: { send_policy: "direct" } });
  const draft = await newDraft(agent, inbox.id, {
    ...LETTER,
    bcc: ["b@example.org"],
    attachments: [FILE],
    labels: ["x"],
    reply_to: "r@example.org",
  });
  assert.match(draft.id, /^dft_/);
  assert.equal(draft.revision, 1);
  assert.equal(draft.text, LETTER.text);
  assert.equal(draft.attachments[0].id, "att_0");
  assert.equal(draft.attachments[0].size, 3);
  const path = `/v1/mail/drafts/${draft.id}`;
  assert.deepEqual(accepted(await owner.ask("GET", path), 200), draft);

  relay.clock.advance(1_000);
  const patch = { subject: null, attachments: [OTHER, { id: "att_0" }] };
  const changed = accepted(await agent.ask("PATCH", path, { body: patch }), 200);
  assert.equal(changed.revision, 2);
  assert.equal(changed.subject, null);
  assert.equal(changed.text, LETTER.text);
  assert.notEqual(changed.content_hash, draft.content_hash);
  assert.deepEqual(
    changed.attachments.map(({ id, filename, size }: Record<string, unknown>) => [
      id,
      filename,
      size,
    ]),
    [["att_1", "b.txt", 5], ["att_0", "a.txt", 3]],
  );
  assert.deepEqual(changed.attachments[1].sha256, draft.attachments[0].sha256);
  const kept = accepted(
    await agent.ask("PATCH", path, { body: { attachments: [{ id: "att_1" }], text: "New" } }),
    200,
  );
  assert.deepEqual([kept.revision, kept.text, kept.attachments.length], [3, "New", 1]);
  const again = accepted(
    await agent.ask("PATCH", path, { body: { attachments: [{ id: "att_1" }, FILE] } }),
    200,
  );
  assert.deepEqual(again.attachments.map(({ id }: { id: string }) => id), ["att_1", "att_2"]);
  // Nothing named, nothing changed.
  assert.equal(accepted(await agent.ask("PATCH", path, { body: {} }), 200).revision, 4);
  assertMailRefused(
    await agent.ask("PATCH", path, { body: { attachments: [{ id: "att_0" }] } }),
    "invalid_json",
  );

  relay.clock.advance(1_000);
  const second = await newDraft(owner, inbox.id, {});
  const list = `/v1/mail/inboxes/${inbox.id}/drafts`;
  const page = accepted(await agent.ask("GET", `${list}?limit=1`), 200);
  assert.deepEqual(page.data.map(({ id }: { id: string }) => id), [second.id]);
  assert.ok(!("text" in page.data[0]) && !("html" in page.data[0]));
  const next = accepted(await agent.ask("GET", `${list}?limit=1&cursor=${page.next_cursor}`), 200);
  assert.deepEqual(next.data.map(({ id }: { id: string }) => id), [draft.id]);
  assert.equal(next.next_cursor, null);

  const used = async () =>
    accepted(await owner.ask("GET", "/v1/mail/usage"), 200).storage_bytes.used;
  assert.ok(await used() > 0);
  for (const { id } of [draft, second]) {
    accepted(await agent.ask("DELETE", `/v1/mail/drafts/${id}`), 204);
    assertMailRefused(await agent.ask("GET", `/v1/mail/drafts/${id}`), "not_found");
  }
  assert.ok(await used() > 0, "bytes count until they are swept");
  relay.clock.advance(3_600_000);
  await relay.relay.crons["figures"]!();
  assert.equal(await used(), 0);
  assert.deepEqual(await approvalMails(relay), []);
});

Deno.test("a client_id makes one draft, within its inbox, and the limit of drafts holds", async () => {
  await using relay = await startMailRelay({ limits: { mailDraftsPerInbox: 2 } });
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, { ...LETTER, client_id: "c1" });
  const path = `/v1/mail/inboxes/${inbox.id}/drafts`;
  const again = await agent.ask("POST", path, { body: { text: "else", client_id: "c1" } });
  assert.deepEqual(accepted(again, 200), draft);
  const other = await owner.inbox();
  const elsewhere = await newDraft(owner, other.id, { client_id: "c1" });
  assert.notEqual(elsewhere.id, draft.id);
  await newDraft(agent, inbox.id, {});
  assertMailRefused(await agent.ask("POST", path, { body: {} }), "draft_limit_reached");
  assert.equal((await approvalMails(relay)).length, 2);
  accepted(await agent.ask("DELETE", `/v1/mail/drafts/${draft.id}`), 204);
  const anew = await newDraft(agent, inbox.id, { client_id: "c1" });
  assert.notEqual(anew.id, draft.id);
});

Deno.test("a draft is sent once under its key, with its revision, and is gone then", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, { ...LETTER, attachments: [FILE], labels: ["x"] });
  const path = `/v1/mail/drafts/${draft.id}`;
  const send = (holder: typeof owner, body?: unknown, headers = {}) =>
    holder.ask("POST", `${path}/send`, { headers, ...(body === undefined ? {} : { body }) });
  assertMailRefused(await send(agent, { revision: 1 }), "approval_required");
  assertMailRefused(await send(owner), "invalid_json", /revision is required/);
  assertMailRefused(await send(owner, { revision: "1" }), "invalid_json");
  accepted(await agent.ask("PATCH", path, { body: { text: "Changed" } }), 200);
  assertMailRefused(await send(owner, { revision: 1 }), "draft_changed");
  const headers = { "Idempotency-Key": "one" };
  assertMailRefused(await send(owner, { revision: 1 }, headers), "draft_changed");
  const first = await send(owner, { revision: 2 }, headers);
  const message = accepted(first, 202);
  assert.deepEqual([message.text, message.labels], ["Changed", ["x"]]);
  assert.equal(message.attachments.length, 1);
  const again = await send(owner, { revision: 2 }, headers);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(accepted(again, 202), message);
  assertMailRefused(await send(owner, { revision: 3 }, headers), "idempotency_key_reused");
  assertMailRefused(await send(owner, { revision: 2 }), "not_found");
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);
  const { storage_bytes } = accepted(await owner.ask("GET", "/v1/mail/usage"), 200);
  const whole = accepted(await owner.ask("GET", `/v1/mail/messages/${message.id}`), 200);
  assert.ok(storage_bytes.used >= whole.size);
});

Deno.test("on a direct inbox its own key sends a draft without a revision; what lacks something stays", async () => {
  await using relay = await startMailRelay();
  const { agent, inbox } = await makeDraftWorld(relay, { inbox: { send_policy: "direct" } });
  const draft = await newDraft(agent, inbox.id, { subject: "x" });
  const path = `/v1/mail/drafts/${draft.id}`;
  assertMailRefused(await agent.ask("POST", `${path}/send`), "invalid_json", /^to is required/);
  accepted(await agent.ask("PATCH", path, { body: { to: "ann@example.org" } }), 200);
  assertMailRefused(await agent.ask("POST", `${path}/send`), "invalid_json", /text and html/);
  const nowMs = relay.clock.now();
  const sendAt = new Date(nowMs + 60_000).toISOString();
  accepted(await agent.ask("PATCH", path, { body: { html: "<p>Hi</p>", send_at: sendAt } }), 200);
  relay.clock.advance(120_000);
  const message = accepted(await agent.ask("POST", `${path}/send`), 202);
  assert.equal(message.send_at, null);
  assert.equal(message.status, "queued");
  const later = await newDraft(agent, inbox.id, {
    ...LETTER,
    send_at: new Date(relay.clock.now() + 3_600_000).toISOString(),
  });
  const scheduled = accepted(await agent.ask("POST", `/v1/mail/drafts/${later.id}/send`), 202);
  assert.equal(scheduled.send_at, later.send_at);
});

Deno.test("a draft that answers a message goes out in its thread", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay, { inbox: { send_policy: "direct" } });
  const first = accepted(
    await owner.ask("POST", `/v1/mail/inboxes/${inbox.id}/messages/send`, { body: LETTER }),
    202,
  );
  const draft = await newDraft(agent, inbox.id, { ...LETTER, in_reply_to_message_id: first.id });
  assert.equal(draft.in_reply_to_message_id, first.id);
  const sent = accepted(await agent.ask("POST", `/v1/mail/drafts/${draft.id}/send`), 202);
  assert.deepEqual([sent.thread_id, sent.in_reply_to], [first.thread_id, first.rfc_message_id]);
  const path = `/v1/mail/inboxes/${inbox.id}/drafts`;
  for (const id of ["msg_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"]) {
    const body = { in_reply_to_message_id: id };
    assertMailRefused(await agent.ask("POST", path, { body }), "not_found");
  }
  // The message has gone: what answers it goes out by itself.
  const late = await newDraft(agent, inbox.id, { ...LETTER, in_reply_to_message_id: first.id });
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${first.id}`), 204);
  const alone = accepted(await agent.ask("POST", `/v1/mail/drafts/${late.id}/send`), 202);
  assert.notEqual(alone.thread_id, first.thread_id);
  assert.equal(alone.in_reply_to, null);
});

Deno.test("what a key of a draft_only inbox sends, answers and forwards waits as a draft, once under its key", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const path = `/v1/mail/inboxes/${inbox.id}/messages/send`;
  const first = accepted(await owner.ask("POST", path, { body: LETTER }), 202);
  const body = { ...LETTER, headers: { "X-Own": "yes" }, attachments: [FILE] };
  const headers = { "Idempotency-Key": "k" };
  const answer = accepted(await agent.ask("POST", path, { body, headers }), 202);
  assert.equal(answer.status, "pending_approval");
  assert.deepEqual(answer.draft.headers, { "X-Own": "yes" });
  const repeated = await agent.ask("POST", path, { body, headers });
  assert.equal(repeated.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(accepted(repeated, 202), answer);
  const large = { ...LETTER, text: "x".repeat(100_000) };
  const keyed = { "Idempotency-Key": "large" };
  const kept = accepted(await agent.ask("POST", path, { body: large, headers: keyed }), 202);
  assert.deepEqual(
    accepted(await agent.ask("POST", path, { body: large, headers: keyed }), 202),
    kept,
  );
  const reply = accepted(
    await agent.ask("POST", `/v1/mail/messages/${first.id}/reply`, { body: { text: "And?" } }),
    202,
  );
  assert.equal(reply.draft.in_reply_to_message_id, first.id);
  assert.equal(reply.draft.subject, "Re: Hello");
  const forward = { to: "c@example.org" };
  const forwarded = accepted(
    await agent.ask("POST", `/v1/mail/messages/${first.id}/forward`, { body: forward }),
    202,
  );
  assert.equal(forwarded.status, "pending_approval");
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);
  const { data } = accepted(await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/drafts`), 200);
  assert.equal(data.length, 4);
  assert.equal((await approvalMails(relay)).length, 4);
  const sent = accepted(
    await owner.ask("POST", `/v1/mail/drafts/${answer.draft.id}/send`, { body: { revision: 1 } }),
    202,
  );
  const raw = (await owner.ask("GET", `/v1/mail/messages/${sent.id}/raw`)).body;
  assert.match(raw, /^X-Own: yes\r$/m);
});

Deno.test("drafts are seen by their org alone, and of keys of an inbox by its own", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const stranger = await newOrg(relay);
  const other = await owner.inbox();
  const hidden = await newDraft(owner, other.id, LETTER);
  const draft = await newDraft(agent, inbox.id, LETTER);
  const calls: [string, string, unknown?][] = [
    ["GET", ""],
    ["PATCH", "", { text: "x" }],
    ["DELETE", ""],
    ["POST", "/send", { revision: 1 }],
  ];
  assert.equal(calls.length, 4);
  for (const [method, tail, body] of calls) {
    const options = body === undefined ? {} : { body };
    for (const [holder, { id }] of [[stranger, draft], [agent, hidden]] as const) {
      assertMailRefused(
        await holder.ask(method, `/v1/mail/drafts/${id}${tail}`, options),
        "not_found",
      );
    }
  }
  assert.equal((await newestApproval(relay)).path.includes(draft.id), true);
});
