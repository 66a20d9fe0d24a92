// Over 300 lines: one world full of marks, and all that a key without inbox:read may ask in it.
/**
 * A key with inbox:write alone reads nothing: whatever strangers and other keys have written is full of
 * one mark, and no answer to such a key has it, but what its own replies must say.
 */
import assert from "node:assert/strict";
import { isKeyAccess, refusalOf } from "../../../server/mail/access/access.ts";
import { MAIL_ROUTES } from "../../../server/mail/routes.ts";
import type { Permission } from "../../../server/mail/records/key_record.ts";
import {
  KEY_CHANGES,
  LETTER,
  NOBODY,
  type Things,
  TOOL_CHANGES,
} from "../../support/key_changes.ts";
import { accepted, assertMailRefused, type MailKeyHolder } from "../../support/mail_caller.ts";
import { startMailStore } from "../../support/mail_store.ts";
import { callMail, MAIL_TOOL_NAMES, receive } from "../../support/mail_tools.ts";
import type { TestRelay } from "../../support/relay.ts";
import { newSendingOrg, send } from "../../support/sending_org.ts";
import { deliveredWebhook } from "../../support/webhook_world.ts";

const MARK = "zqx7w";
const FRIEND = `friend.${MARK}@${MARK}.example`;
const OTHER = `other.${MARK}@${MARK}.example`;
const WRITE: readonly Permission[] = ["inbox:write"];

/** The mail of a stranger, marked wherever a stranger can write. */
const MARKED_MAIL = [
  `From: "${MARK} name" <${FRIEND}>`,
  `To: bot@agents.test, ${OTHER}`,
  `Cc: "${MARK} cc" <cc.${OTHER}>`,
  `Subject: ${MARK} subject, your code is 482913`,
  `Message-ID: <${MARK}@${MARK}.example>`,
  `In-Reply-To: <former.${MARK}@${MARK}.example>`,
  `X-Custom: ${MARK}`,
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="b"',
  "",
  "--b",
  "Content-Type: text/html",
  "",
  `<p>${MARK} text <a href="https://${MARK}.example/x">${MARK} link</a></p>`,
  "--b",
  `Content-Type: application/pdf; name="${MARK}.pdf"`,
  `Content-Disposition: attachment; filename="${MARK}.pdf"`,
  "",
  MARK,
  "--b--",
  "",
].join("\r\n");

interface World {
  relay: TestRelay;
  kv: Deno.Kv;
  /** May do everything. */
  owner: MailKeyHolder;
  things: Things;
  address: string;
}

async function withWorld(test: (world: World) => Promise<void>): Promise<void> {
  await using store = await startMailStore();
  const { relay, kv } = store;
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({
    local_part: "bot",
    display_name: "The bot",
    client_id: "c",
    block_receive: [`blocked.${MARK}@${MARK}.example`],
  });
  const spare = await owner.inbox();
  await receive(relay, inbox.address, { raw: MARKED_MAIL });
  const list = await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`);
  const [message] = accepted(list, 200).data;
  assert.ok(JSON.stringify(message).split(MARK).length > 10);
  const marked = { to: FRIEND, subject: `${MARK} subject`, text: `${MARK} text` };
  const send_at = new Date(relay.clock.now() + 86_400_000).toISOString();
  const scheduled = accepted(await send(owner, inbox, { ...marked, send_at }), 202);
  await test({
    relay,
    kv,
    owner,
    address: inbox.address,
    things: {
      inbox: inbox.id,
      spareInbox: spare.id,
      message: message.id,
      thread: message.thread_id,
      scheduled: scheduled.id,
      draft: await markedDraft(owner, inbox.id),
      spareKey: (await owner.newKey({ name: MARK })).id,
      ...await deliveredWebhook(relay, owner, `${NOBODY}/${MARK}`),
      orgId: owner.orgId,
      idToken: "none",
    },
  });
}

async function markedDraft(owner: MailKeyHolder, inboxId: string, more = {}): Promise<string> {
  const body = {
    to: FRIEND,
    cc: [{ name: MARK, address: OTHER }],
    subject: `${MARK} subject`,
    text: `${MARK} text`,
    attachments: [{
      filename: `${MARK}.txt`,
      content_type: "text/plain",
      content: btoa(MARK),
    }],
    ...more,
  };
  const path = `/v1/mail/inboxes/${inboxId}/drafts`;
  return accepted(await owner.ask("POST", path, { body }), 201).id;
}

async function writer(
  { owner, things }: Pick<World, "owner" | "things">,
  scope: "org" | "inbox",
): Promise<MailKeyHolder> {
  const bound = scope === "inbox" ? { scope, inbox_id: things.inbox } : {};
  return owner.with((await owner.newKey({ name: "w", permissions: WRITE, ...bound })).api_key);
}

/** What no answer may hold: the mark, and what a stranger's mail came to. */
function assertUnmarked(told: string, answer: unknown): void {
  const text = JSON.stringify(answer);
  assert.ok(!text.toLowerCase().includes(MARK), `${told}: ${text.slice(0, 500)}`);
  assert.ok(!text.includes("482913"), told);
}

/** Recipients and subject of its own reply, and what it is threaded by. */
const OF_REPLY = ["to", "cc", "subject", "in_reply_to", "references", "recipients", "headers"];

for (const scope of ["org", "inbox"] as const) {
  Deno.test(`no answer to an ${scope}-scoped key with inbox:write alone says what others wrote, on any route`, () =>
    withWorld(async (world) => {
      const { things } = world;
      const holder = await writer(world, scope);
      const seen = new Set<string>();
      for (const { route, path, body, headers } of KEY_CHANGES) {
        const [method] = route.split(" ");
        const answer = await holder.ask(method!, path(things), {
          ...(headers === undefined ? {} : { headers }),
          ...(body === undefined ? {} : { body: body(things) }),
        });
        seen.add(route);
        if (route.endsWith("/reply")) {
          const message = accepted(answer, 202);
          for (const name of OF_REPLY) delete message[name];
          assertUnmarked(route, message);
        } else assertUnmarked(route, [answer.body, [...answer.headers]]);
        const refusal = answer.body?.error?.code;
        if (route.endsWith("/forward")) assert.equal(refusal, "insufficient_permission");
        if (route.endsWith("/drafts/{id}/send")) {
          assert.deepEqual(Object.keys(accepted(answer, 202)).sort(), MESSAGE_MARKS);
        }
      }
      // All others are refused by their access.
      for (const { method, path, may } of MAIL_ROUTES) {
        const route = `${method} ${path}`;
        if (!isKeyAccess(may) || seen.has(route)) continue;
        assert.ok(refusalOf(may, { scope, permissions: WRITE }) !== null, route);
      }
      assert.ok(seen.size > 18);
    }));

  Deno.test(`no tool tells an ${scope}-scoped key with inbox:write alone what others wrote`, () =>
    withWorld(async (world) => {
      const { things } = world;
      const holder = await writer(world, scope);
      const reading: typeof TOOL_CHANGES = {
        check_inbox: ({ inbox }) => ({ inbox_id: inbox }),
        search_mail: () => ({ q: MARK.slice(0, 3) }),
      };
      const tools = { ...TOOL_CHANGES, ...reading };
      assert.deepEqual(Object.keys(tools).sort(), [...MAIL_TOOL_NAMES].sort());
      for (const [tool, args] of Object.entries(tools)) {
        const { structured, text } = await callMail(holder, tool, args(things));
        if (tool === "reply_to_message") {
          assert.ok(text.includes(FRIEND));
          for (const name of OF_REPLY) delete structured.message[name];
          assertUnmarked(tool, structured);
        } else assertUnmarked(tool, [structured ?? null, text]);
      }
    }));
}

const MESSAGE_MARKS = [
  "created_at",
  "direction",
  "id",
  "inbox_id",
  "labels",
  "read",
  "send_at",
  "status",
  "thread_id",
];

Deno.test("PATCH by a key with inbox:write alone is answered marks; by one that reads, whole", () =>
  withWorld(async (world) => {
    const { owner, things } = world;
    const holder = await writer(world, "inbox");
    const patch = (by: MailKeyHolder, path: string, body: unknown) =>
      by.ask("PATCH", path, { body });
    const message = `/v1/mail/messages/${things.message}`;
    for (const body of [{ read: true, add_labels: ["x"] }, {}]) {
      const marks = accepted(await patch(holder, message, body), 200);
      assert.deepEqual(Object.keys(marks).sort(), MESSAGE_MARKS);
      assert.deepEqual([marks.id, marks.read, marks.labels], [things.message, true, ["x"]]);
    }
    assert.match(accepted(await patch(owner, message, {}), 200).subject, new RegExp(MARK));
    const thread = `/v1/mail/threads/${things.thread}`;
    const { id, message_count, unread_count, ...rest } = accepted(
      await patch(holder, thread, { read: false }),
      200,
    );
    assert.deepEqual([id, message_count, unread_count], [things.thread, 1, 1]);
    const others = ["created_at", "inbox_id", "last_message_at", "last_message_id"];
    assert.deepEqual(Object.keys(rest).sort(), others);
    assert.match(
      accepted(await patch(owner, thread, { read: true }), 200).subject,
      new RegExp(MARK),
    );
    const draft = accepted(
      await patch(holder, `/v1/mail/drafts/${things.draft}`, { subject: "Mine" }),
      200,
    );
    assert.deepEqual([draft.revision, draft.subject, draft.text], [2, undefined, undefined]);
  }));

Deno.test("a key with inbox:write alone has no draft of other keys sent to itself", () =>
  withWorld(async (world) => {
    const { owner, things } = world;
    const holder = await writer(world, "inbox");
    const path = `/v1/mail/drafts/${things.draft}`;
    let refused = 0;
    for (const field of ["to", "cc", "bcc", "reply_to"]) {
      const body = { text: "x", [field]: ["thief@example.org"] };
      const answer = await holder.ask("PATCH", path, { body });
      assertMailRefused(answer, "insufficient_permission", /inbox:read/);
      refused++;
    }
    assert.equal(refused, 4);
    const { revision, to } = accepted(await owner.ask("GET", path), 200);
    assert.deepEqual([revision, to.length, to[0].address], [1, 1, FRIEND]);
    // Its own it sends wherever it likes.
    const drafts = `/v1/mail/inboxes/${things.inbox}/drafts`;
    const { id } = accepted(await holder.ask("POST", drafts, { body: LETTER }), 201);
    const body = { to: ["kim@example.org"], cc: null };
    accepted(await holder.ask("PATCH", `/v1/mail/drafts/${id}`, { body }), 200);
    accepted(await holder.ask("POST", `${path}/send`), 202);
  }));

Deno.test("what a key with inbox:write alone wrote itself is answered whole, until another key writes in it", () =>
  withWorld(async (world) => {
    const { owner, things, relay } = world;
    const holder = await writer(world, "inbox");
    const drafts = `/v1/mail/inboxes/${things.inbox}/drafts`;
    const made = accepted(await holder.ask("POST", drafts, { body: LETTER }), 201);
    assert.equal(made.text, LETTER.text);
    const path = `/v1/mail/drafts/${made.id}`;
    const change = (by: MailKeyHolder, body: unknown) => by.ask("PATCH", path, { body });
    assert.equal(accepted(await change(holder, { text: "Mine." }), 200).text, "Mine.");
    assert.equal(accepted(await change(owner, { subject: MARK }), 200).text, "Mine.");
    for (const body of [{ text: "Again." }, {}]) {
      const shared = accepted(await change(holder, body), 200);
      assertUnmarked("PATCH of a shared draft", shared);
      assert.equal(shared.text, undefined);
    }
    const send_at = new Date(relay.clock.now() + 86_400_000).toISOString();
    const own = accepted(await send(holder, { id: things.inbox }, { send_at }), 202);
    assert.equal(own.text, "Hello.");
    const cancel = (id: string) => holder.ask("POST", `/v1/mail/messages/${id}/cancel`);
    assert.equal(accepted(await cancel(own.id), 200).text, "Hello.");
    const others = accepted(await cancel(things.scheduled), 200);
    assert.deepEqual(Object.keys(others).sort(), MESSAGE_MARKS);
    assert.equal(others.status, "cancelled");
    // Sent on as it is, and as its words stood when others had written in it.
    const sent = await holder.ask("POST", `${path}/send`, { headers: { "Idempotency-Key": "k" } });
    assert.deepEqual(Object.keys(accepted(sent, 202)).sort(), MESSAGE_MARKS);
    const again = await holder.ask("POST", `${path}/send`, { headers: { "Idempotency-Key": "k" } });
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    assert.deepEqual(again.body, sent.body);
  }));

Deno.test("a client_id of another key gives a key with inbox:write alone marks", () =>
  withWorld(async (world) => {
    const { owner, things } = world;
    const id = await markedDraft(owner, things.inbox, { client_id: "theirs" });
    const holder = await writer(world, "org");
    const draft = await holder.ask("POST", `/v1/mail/inboxes/${things.inbox}/drafts`, {
      body: { client_id: "theirs" },
    });
    assertUnmarked("draft", accepted(draft, 200));
    assert.equal(draft.body.id, id);
    const inbox = accepted(await holder.createInbox({ client_id: "c" }), 200);
    assertUnmarked("inbox", inbox);
    assert.deepEqual([inbox.id, inbox.display_name], [things.inbox, undefined]);
  }));

Deno.test("refusals name no recipient that a key with inbox:write alone has not given", () =>
  withWorld(async (world) => {
    const { kv, owner, things, relay } = world;
    const holder = await writer(world, "inbox");
    const reply = `/v1/mail/messages/${things.message}/reply`;
    const sendDraft = `/v1/mail/drafts/${things.draft}/send`;
    const refused = async (code: "recipient_suppressed" | "recipient_not_allowed") => {
      for (const path of [reply, sendDraft]) {
        const body = path === reply ? { text: "x" } : {};
        const answer = await holder.ask("POST", path, { body });
        assertMailRefused(answer, code);
        assertUnmarked(path, answer.body);
        // A key that may read is told.
        const told = await owner.ask("POST", path, { body });
        assertMailRefused(told, code, new RegExp(MARK));
      }
      const args = { message_id: things.message, text: "x" };
      const { error, text } = await callMail(holder, "reply_to_message", args);
      assert.equal(error?.code, code);
      assertUnmarked("reply_to_message", text);
    };
    const row = { v: 1, reason: "complaint", messageId: things.message };
    const suppression = { ...row, createdAtMs: relay.clock.now() };
    await kv.set(["mail-suppression", owner.orgId, FRIEND], suppression);
    await refused("recipient_suppressed");
    // The ones that it gave itself are named.
    const own = await send(holder, { id: things.inbox }, { to: FRIEND });
    assertMailRefused(own, "recipient_suppressed", new RegExp(MARK));
    await kv.delete(["mail-suppression", owner.orgId, FRIEND]);
    const inbox = `/v1/mail/inboxes/${things.inbox}`;
    accepted(await owner.ask("PATCH", inbox, { body: { allow_send: ["elsewhere.test"] } }), 200);
    await refused("recipient_not_allowed");
  }));

Deno.test("a reply that waits for approval tells a key with inbox:write alone nothing of the mail", () =>
  withWorld(async (world) => {
    const { owner, things } = world;
    const inbox = `/v1/mail/inboxes/${things.inbox}`;
    accepted(await owner.ask("PATCH", inbox, { body: { send_policy: "draft_only" } }), 200);
    const holder = await writer(world, "inbox");
    const path = `/v1/mail/messages/${things.message}/reply`;
    const options = { body: { text: "Yes." }, headers: { "Idempotency-Key": "k" } };
    const { status, draft } = accepted(await holder.ask("POST", path, options), 202);
    assert.equal(status, "pending_approval");
    assertUnmarked("reply", draft);
    assertUnmarked("replay", (await holder.ask("POST", path, options)).body);
    const args = { message_id: things.message, text: "Yes." };
    const { structured, text } = await callMail(holder, "reply_to_message", args);
    assert.equal(structured.status, "pending_approval");
    assertUnmarked("reply_to_message", [structured, text]);
    const changed = await holder.ask("PATCH", `/v1/mail/drafts/${draft.id}`, { body: {} });
    assertUnmarked("its draft", accepted(changed, 200));
    // What it sends by itself it wrote itself.
    const sent = await send(holder, { id: things.inbox }, {});
    assert.equal(accepted(sent, 202).draft.text, "Hello.");
  }));
