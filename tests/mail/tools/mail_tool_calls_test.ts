/** Arguments, cursors, waiting, retries, drafts and HTTP of /mcp/mail. */
import assert from "node:assert/strict";
import { ask, assertRefused } from "../../support/answer.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import {
  callMail,
  MAIL_TOOLS_PATH,
  mailDone,
  receive,
  verifiedOrg,
} from "../../support/mail_tools.ts";
import { startTestRelay } from "../../support/relay.ts";
import {
  assertToolRefused,
  postRpc,
  rpcRequest,
  type ToolArgs,
} from "../../support/tool_client.ts";

const LIST = rpcRequest("tools/list");

Deno.test("wrong arguments are refused with the codes and the order of REST", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const inbox_id = (await holder.inbox()).id;
  const to = "ann@example.org";
  const cases: [tool: string, args: ToolArgs, code: string, message?: RegExp][] = [
    ["create_inbox", { local_part: 7 }, "invalid_json", /local_part/],
    ["create_inbox", { local_part: "no spaces" }, "invalid_json"],
    ["create_inbox", { local_part: "postmaster" }, "reserved_local_part"],
    ["create_inbox", { client_id: "x" }, "invalid_json", /no argument "client_id"/],
    ["check_inbox", {}, "invalid_json", /inbox_id is required/],
    ["check_inbox", { inbox_id: "" }, "not_found"],
    ["check_inbox", { inbox_id, limit: "5" }, "invalid_json", /limit/],
    ["check_inbox", { inbox_id, wait: 1.5 }, "invalid_json", /wait/],
    ["check_inbox", { inbox_id, unread_only: "yes" }, "invalid_json", /unread_only/],
    ["check_inbox", { inbox_id, direction: "outbound" }, "invalid_json", /inbound or all$/],
    ["check_inbox", { inbox_id, direction: true }, "invalid_json", /direction must be a string/],
    ["check_inbox", { inbox_id, cursor: "bad" }, "invalid_json", /^cursor must be next_cursor/],
    ["read_thread", { thread_id: "thr_x" }, "not_found"],
    ["send_email", { inbox_id, text: "x" }, "invalid_json", /to is required/],
    ["send_email", { inbox_id, to }, "invalid_json", /text and html/],
    ["send_email", { inbox_id, to: "Ann <a@b.org>", text: "x" }, "invalid_email"],
    ["send_email", { inbox_id, to: 7, text: "x" }, "invalid_json"],
    ["send_email", { inbox_id, to, text: "\ud800" }, "invalid_json", /text/],
    ["send_email", { inbox_id, to: [{ address: to, name: "\ud800" }], text: "x" }, "invalid_json"],
    ["send_email", { inbox_id, to, text: "x", subject: "a\nb" }, "invalid_json", /subject/],
    ["send_email", { inbox_id, to, text: "x", idempotency_key: "\u00e4" }, "invalid_json", /^idem/],
    ["reply_to_message", { message_id: "msg_x", text: "x" }, "not_found"],
    ["search_mail", {}, "invalid_json", /q is required/],
    ["search_mail", { q: "x".repeat(501) }, "invalid_json", /500/],
    ["search_mail", { q: "x", inbox_id: "nobody@agents.test" }, "not_found"],
  ];
  for (const [tool, args, code, message] of cases) {
    assertToolRefused(await callMail(holder, tool, args), code, message);
  }
});

Deno.test('"" and null count as absent where clients force every argument', async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const { inbox } = (await mailDone(holder, "create_inbox", { local_part: "", display_name: null }))
    .structured;
  assert.match(inbox.address, /^[a-z]+-[a-z]+-\d{4}@agents\.test$/);
  assert.equal(inbox.display_name, null);
  const sent = await mailDone(holder, "send_email", {
    inbox_id: inbox.id,
    to: "ann@example.org",
    cc: "",
    bcc: null,
    subject: "",
    text: "x",
    html: "",
    idempotency_key: "",
  });
  assert.equal(sent.structured.message.subject, null);
  const args = { inbox_id: inbox.id, limit: null, cursor: "", unread_only: null, wait: null };
  const empty = await mailDone(holder, "check_inbox", { ...args, direction: "" });
  assert.deepEqual(empty.structured.messages, []); // it has sent one
  await mailDone(holder, "search_mail", { q: "x", inbox_id: "", cursor: "", limit: null });
});

Deno.test("check_inbox goes on from its cursor, whatever was left out before, and from no other", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const [inbox, other] = [await holder.inbox({ local_part: "ada" }), await holder.inbox()];
  for (const Subject of ["one", "two", "three"]) {
    await receive(relay, inbox.address, { headers: { Subject } });
  }
  const check = async (args: ToolArgs = {}) =>
    (await mailDone(holder, "check_inbox", { inbox_id: inbox.id, ...args })).structured;
  const subjects = (page: { messages: { subject: string }[] }) =>
    page.messages.map(({ subject }) => subject);
  const first = await check({ limit: 2 });
  assert.deepEqual(subjects(first), ["one", "two"]);
  const rest = await check({ cursor: first.next_cursor });
  assert.deepEqual(subjects(rest), ["three"]);
  await mailDone(holder, "read_thread", { thread_id: first.messages[1].thread_id });
  const unread = await check({ unread_only: true });
  assert.deepEqual(subjects(unread), ["one", "three"]);
  for (const { next_cursor } of [rest, unread]) {
    assert.deepEqual(subjects(await check({ cursor: next_cursor })), []);
  }
  for (const message of [...first.messages, ...rest.messages]) {
    await mailDone(holder, "read_thread", { thread_id: message.thread_id });
  }
  // Nothing unread: going on from there shows none of what was left out.
  const nothing = await check({ unread_only: true });
  assert.deepEqual(subjects(await check({ cursor: nothing.next_cursor })), []);
  await receive(relay, inbox.address, { headers: { Subject: "four" } });
  assert.deepEqual(subjects(await check({ cursor: nothing.next_cursor })), ["four"]);

  const list = accepted(
    await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages?order=asc`),
    200,
  );
  const foreign: [string, ToolArgs][] = [
    ["check_inbox", { inbox_id: inbox.id, cursor: list.next_cursor }],
    ["check_inbox", { inbox_id: other.id, cursor: first.next_cursor }],
    ["read_thread", { thread_id: first.messages[0].thread_id, cursor: first.next_cursor }],
    ["search_mail", { q: "one", cursor: first.next_cursor }],
  ];
  for (const [tool, args] of foreign) {
    assertToolRefused(await callMail(holder, tool, args), "invalid_json", /cursor/);
  }
  const asREST = await holder.ask(
    "GET",
    `/v1/mail/inboxes/${inbox.id}/messages?order=asc&cursor=${first.next_cursor}`,
  );
  assert.equal(asREST.status, 400);
});

Deno.test("check_inbox with wait answers when a message comes", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const inbox = await holder.inbox();
  const came = relay.nextRequests(1);
  const waiting = mailDone(holder, "check_inbox", { inbox_id: inbox.id, wait: 25 });
  await came;
  await receive(relay, inbox.address);
  assert.equal((await waiting).structured.messages.length, 1);
});

Deno.test("check_inbox cuts texts at 2 KiB, and pages end by bytes", async () => {
  await using relay = await startMailRelay({ limits: { toolPageBytes: 8_000 } });
  const holder = await verifiedOrg(relay);
  const inbox = await holder.inbox();
  const text = "\u00e4\u20ac ".repeat(2_000);
  const headers = { "Content-Type": "text/plain; charset=utf-8" };
  for (let i = 0; i < 4; i++) await receive(relay, inbox.address, { text, headers });
  const seen: string[] = [];
  for (let cursor = "", pages = 0; pages < 9; pages++) {
    const { structured, text } = await mailDone(holder, "check_inbox", {
      inbox_id: inbox.id,
      cursor,
    });
    if (structured.messages.length === 0) break;
    const bytes = new TextEncoder().encode(JSON.stringify(structured.messages)).length;
    assert.ok(bytes <= 8_010, `${bytes}`);
    for (const { id, extracted_text, truncated } of structured.messages) {
      assert.ok(new TextEncoder().encode(extracted_text).length <= 2_048);
      assert.ok(extracted_text.length > 900 && truncated);
      seen.push(id);
    }
    if (seen.length < 4) assert.match(text, /More messages wait: call check_inbox/);
    cursor = structured.next_cursor;
  }
  assert.equal(new Set(seen).size, 4);
  const rows = (await mailDone(holder, "check_inbox", { inbox_id: inbox.id })).structured.messages;
  const whole = await mailDone(holder, "read_thread", { thread_id: rows[0].thread_id });
  assert.ok(whole.structured.messages[0].text.length > 5_000);
});

Deno.test("read_thread pages through a thread and marks what it gave, no more", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const inbox = await holder.inbox();
  await receive(relay, inbox.address, { headers: { "Message-ID": "<a@else.test>" } });
  for (let i = 0; i < 2; i++) {
    await receive(relay, inbox.address, { headers: { "In-Reply-To": "<a@else.test>" } });
  }
  const { messages } = (await mailDone(holder, "check_inbox", { inbox_id: inbox.id })).structured;
  const thread_id = messages[0].thread_id;
  const first = (await mailDone(holder, "read_thread", { thread_id, limit: 2 })).structured;
  assert.equal(first.messages.length, 2);
  assert.equal(first.thread.unread_count, 1);
  assert.equal(typeof first.next_cursor, "string");
  const second =
    (await mailDone(holder, "read_thread", { thread_id, cursor: first.next_cursor })).structured;
  assert.deepEqual(second.messages.map(({ id }: { id: string }) => id), [messages[2].id]);
  assert.equal(second.thread.unread_count, 0);
  assert.equal(second.next_cursor, null);
});

Deno.test("an idempotency_key makes retries of send_email and reply_to_message safe", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const [inbox, other] = [await holder.inbox(), await holder.inbox()];
  const args = { inbox_id: inbox.id, to: "ann@example.org", text: "x", idempotency_key: "k" };
  const first = await mailDone(holder, "send_email", args);
  const again = await mailDone(holder, "send_email", { ...args, inbox_id: inbox.address });
  assert.deepEqual(again.structured, first.structured);
  const changes: ToolArgs[] = [{ text: "y" }, { inbox_id: other.id }, { cc: "bob@example.org" }];
  for (const change of changes) {
    assertToolRefused(
      await callMail(holder, "send_email", { ...args, ...change }),
      "idempotency_key_reused",
    );
  }
  await receive(relay, inbox.address);
  const checked = (await mailDone(holder, "check_inbox", { inbox_id: inbox.id })).structured;
  const message_id = checked.messages[0].id;
  // The tool is part of the scope.
  const reply = { message_id, text: "x", idempotency_key: "k" };
  const one = await mailDone(holder, "reply_to_message", reply);
  assert.deepEqual((await mailDone(holder, "reply_to_message", reply)).structured, one.structured);
  const listed = async (direction: string) =>
    (await mailDone(holder, "check_inbox", { inbox_id: inbox.id, direction })).structured.messages;
  assert.deepEqual([(await listed("all")).length, (await listed("inbound")).length], [3, 1]);
});

Deno.test("a batch does its calls in order, and each refusal is its own", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const call = (name: string, args: ToolArgs, id: number) =>
    rpcRequest("tools/call", { name, arguments: args }, id);
  const batch = [
    call("create_inbox", { local_part: "ada", api_key: holder.key }, 1),
    call("check_inbox", { inbox_id: "ada@agents.test" }, 2),
    call("send_email", { inbox_id: "ada@agents.test", to: "a@b.org", text: "x", api_key: "x" }, 3),
  ];
  const headers = { Authorization: `Bearer ${holder.key}` };
  const { json } = await postRpc(relay.url, `[${batch.join(",")}]`, headers, MAIL_TOOLS_PATH);
  assert.deepEqual(json.map(({ id }: { id: number }) => id), [1, 2, 3]);
  assert.equal(json[0].result.structuredContent.inbox.address, "ada@agents.test");
  assert.deepEqual(json[1].result.structuredContent.messages, []);
  assert.equal(json[2].result._meta["relay/error"].code, "unknown_key");
});

Deno.test("/mcp/mail is POST alone, its own Host and Origin, bounded, and 503 while mail is off", async () => {
  await using relay = await startMailRelay();
  const url = `${relay.url}${MAIL_TOOLS_PATH}`;
  for (const method of ["GET", "DELETE"]) {
    const answer = await ask(url, { method });
    assertRefused(answer, "method_not_allowed");
    assert.equal(answer.headers.get("allow"), "POST, OPTIONS");
  }
  const headers = { Origin: "https://evil.example" };
  assertRefused(await ask(url, { method: "POST", headers, body: LIST }), "forbidden");
  const own = await postRpc(relay.url, LIST, { Origin: "http://localhost:1" }, MAIL_TOOLS_PATH);
  assert.equal(own.status, 200);
  assert.equal(own.headers.get("access-control-allow-origin"), "*");
  const large = await postRpc(relay.url, " ".repeat(513 * 1024), {}, MAIL_TOOLS_PATH);
  assertRefused(large, "payload_too_large");
  const wide = rpcRequest("ping", { _meta: { filler: "x".repeat(17_000) } });
  const refused = await postRpc(relay.url, wide, {}, MAIL_TOOLS_PATH);
  assert.deepEqual([refused.status, refused.json.error.code], [400, -32600]);

  await using off = await startTestRelay();
  const answer = await postRpc(off.url, LIST, {}, MAIL_TOOLS_PATH);
  assertRefused(answer, "mail_disabled");
  assert.equal(answer.status, 503);
});
