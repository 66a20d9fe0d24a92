/** Permissions of the mail tools: every kind of key, its own inbox, another one, another org. */
import assert from "node:assert/strict";
import { assertMailRefused, type MailKeyHolder } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { callMail, mailDone, receive, verifiedOrg } from "../../support/mail_tools.ts";
import type { TestRelay } from "../../support/relay.ts";
import { assertToolRefused, type ToolArgs } from "../../support/tool_client.ts";

/** Access as in permission_table_test.ts. */
type Access = "OW" | "IR" | "IW";
const TOOLS: Record<string, Access> = {
  create_inbox: "OW",
  check_inbox: "IR",
  read_thread: "IR",
  send_email: "IW",
  reply_to_message: "IW",
  search_mail: "IR",
};

const KINDS: Record<string, { scope: "org" | "inbox"; permissions: string[]; opens: Access[] }> = {
  "org-scoped": {
    scope: "org",
    permissions: ["inbox:read", "inbox:write"],
    opens: ["OW", "IR", "IW"],
  },
  "org-scoped, read-only": { scope: "org", permissions: ["inbox:read"], opens: ["IR"] },
  "org-scoped, write-only": { scope: "org", permissions: ["inbox:write"], opens: ["OW", "IW"] },
  "inbox-scoped": {
    scope: "inbox",
    permissions: ["inbox:read", "inbox:write"],
    opens: ["IR", "IW"],
  },
  "inbox-scoped, read-only": { scope: "inbox", permissions: ["inbox:read"], opens: ["IR"] },
  "inbox-scoped, write-only": { scope: "inbox", permissions: ["inbox:write"], opens: ["IW"] },
};

interface Ids {
  inbox: string;
  message: string;
  thread: string;
}

const UNKNOWN: Ids = {
  inbox: "ibx_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  message: "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  thread: "thr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
};

async function newInbox(relay: TestRelay, holder: MailKeyHolder): Promise<Ids> {
  const { id, address } = await holder.inbox();
  relay.clock.advance(1); // ids ascend with time
  await receive(relay, address);
  const { structured } = await mailDone(holder, "check_inbox", { inbox_id: id });
  const [message] = structured.messages;
  return { inbox: id, message: message.id, thread: message.thread_id };
}

const argumentsOf = (tool: string, { inbox, message, thread }: Ids): ToolArgs =>
  ({
    create_inbox: {},
    check_inbox: { inbox_id: inbox },
    read_thread: { thread_id: thread },
    send_email: { inbox_id: inbox, to: "ann@example.org", text: "x" },
    reply_to_message: { message_id: message, text: "x" },
    search_mail: { q: "hello", inbox_id: inbox },
  } as Record<string, ToolArgs>)[tool]!;

Deno.test("each kind of key calls exactly its mail tools, and of an inbox-scoped one only for its inbox", async (t) => {
  await using relay = await startMailRelay({ limits: { mailRegistrationsPerIpPerHour: 100 } });
  const testKind =
    (kind: string, { scope, permissions, opens }: typeof KINDS[string]) => async () => {
      const [owner, other] = [await verifiedOrg(relay), await verifiedOrg(relay)];
      const [own, sibling] = [await newInbox(relay, owner), await newInbox(relay, owner)];
      const foreign = await newInbox(relay, other);
      const ofInbox = scope === "inbox" ? { inbox_id: own.inbox } : {};
      const { api_key } = await owner.newKey({ name: kind, scope, permissions, ...ofInbox });
      const holder = owner.with(api_key);
      for (const [tool, access] of Object.entries(TOOLS)) {
        const call = (ids: Ids) => callMail(holder, tool, argumentsOf(tool, ids));
        if (!opens.includes(access)) {
          for (const ids of [own, foreign, UNKNOWN]) {
            assertToolRefused(await call(ids), "insufficient_permission", /^this tool takes/);
          }
          continue;
        }
        assert.equal((await call(own)).isError, false, tool);
        if (tool === "create_inbox") continue;
        for (const ids of [foreign, UNKNOWN]) assertToolRefused(await call(ids), "not_found");
        if (scope === "inbox") assertToolRefused(await call(sibling), "not_found");
        else assert.equal((await call(sibling)).isError, false, tool);
      }
    };
  for (const [kind, made] of Object.entries(KINDS)) {
    await t.step(`a key that is ${kind}`, testKind(kind, made));
  }
});

Deno.test("search_mail of an inbox-scoped key looks at its inbox alone", async () => {
  await using relay = await startMailRelay();
  const owner = await verifiedOrg(relay);
  const [own, sibling] = [await newInbox(relay, owner), await newInbox(relay, owner)];
  const { api_key } = await owner.newKey({ name: "x", scope: "inbox", inbox_id: own.inbox });
  const found = async (holder: MailKeyHolder) =>
    (await mailDone(holder, "search_mail", { q: "hello" })).structured.results.map(
      ({ message }: { message: { id: string } }) => message.id,
    );
  assert.deepEqual(await found(owner.with(api_key)), [own.message]);
  assert.deepEqual(await found(owner), [sibling.message, own.message]);
});

Deno.test("read_thread marks nothing with a read-only key, and is refused where it was to mark", async () => {
  await using relay = await startMailRelay();
  const owner = await verifiedOrg(relay);
  const { inbox, thread } = await newInbox(relay, owner);
  const { api_key } = await owner.newKey({ name: "r", permissions: ["inbox:read"] });
  const reader = owner.with(api_key);
  for (const args of [{}, { mark_read: false }, { mark_read: null }] as ToolArgs[]) {
    const { structured, text } = await mailDone(reader, "read_thread", {
      thread_id: thread,
      ...args,
    });
    assert.equal(structured.thread.unread_count, 1);
    assert.match(text, /Nothing was marked as read/);
  }
  assertToolRefused(
    await callMail(reader, "read_thread", { thread_id: thread, mark_read: true }),
    "insufficient_permission",
  );
  const unread = async () =>
    (await owner.ask("GET", `/v1/mail/inboxes/${inbox}`)).body.unread_count;
  assert.equal(await unread(), 1);
  await mailDone(owner, "read_thread", { thread_id: thread, mark_read: false });
  assert.equal(await unread(), 1);
  const { structured } = await mailDone(owner, "read_thread", { thread_id: thread });
  assert.equal(structured.thread.unread_count, 0);
  assert.equal(await unread(), 0);
});

Deno.test("keys that are none, have expired, or whose org is suspended open no mail tool", async () => {
  await using relay = await startMailRelay({ config: { adminToken: "a".repeat(32) } });
  const owner = await verifiedOrg(relay);
  const expires_at = new Date(relay.clock.now() + 60_000).toISOString();
  const short = owner.with((await owner.newKey({ name: "short", expires_at })).api_key);
  const none = { url: relay.url, key: "" };
  assertToolRefused(await callMail(none, "check_inbox"), "missing_token", /^api_key is required/);
  assertToolRefused(await callMail({ ...none, key: "x" }, "check_inbox"), "unknown_key");
  relay.clock.advance(61_000);
  assertToolRefused(await callMail(short, "search_mail", { q: "x" }), "expired_key");
  const suspend = await fetch(`${relay.url}/v1/admin/mail/orgs/${owner.orgId}/suspend`, {
    method: "POST",
    headers: { Authorization: `Bearer ${"a".repeat(32)}` },
  });
  assert.equal(suspend.status, 200, await suspend.text());
  assertToolRefused(await callMail(owner, "search_mail", { q: "x" }), "org_suspended");
  assertMailRefused(await owner.ask("GET", "/v1/mail/search?q=x"), "org_suspended");
});
