/** HTML that a person approves: reduced when it is written, and what is approved is what goes out. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import PostalMime from "postal-mime";
import { canonicalJson } from "../../../toolkit/canonical_json.ts";
import { draftKey } from "../../../server/mail/records/draft_record.ts";
import {
  approvalMails,
  decide,
  LETTER,
  makeDraftWorld,
  newDraft,
  newestApproval,
  openPage,
  sentMessages,
} from "../../support/draft_world.ts";
import { accepted, assertMailRefused, type MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { startMailStore } from "../../support/mail_store.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const LOGO = {
  filename: "logo.png",
  content_type: "image/png",
  content: PIXEL,
  content_id: "logo@example",
};
/** By style sheets one mail for who approves it, and another for who gets it. */
const TWO_FACED =
  `<style>@media screen { .a.b { display: none } } @media print { .c { display: none } }
  p:hover::before { content: "x" }</style><div class="a b">For the approver</div><p class="c" onclick="x()">For both</p>
  <p style="display:none">For nobody</p><img src="cid:logo@example" alt="Logo"><img src="https://t.example/1.gif" alt="Far">`;
/** What it is in both: on screens the first words are hidden. */
const REDUCED = `<p>For both</p>`;

/** The HTML and the text of what a relay has sent, as a reader of mail finds them. */
async function delivered(holder: MailKeyHolder, messageId: string) {
  const { body } = await holder.ask("GET", `/v1/mail/messages/${messageId}/raw`);
  const { html, text } = await PostalMime.parse(body);
  return { html: html?.replaceAll("\r\n", "\n").trimEnd(), text };
}

function hashOf(draft: Record<string, unknown>): string {
  const { to, cc, bcc, subject, text, html, reply_to, send_at } = draft;
  const attachments = (draft["attachments"] as Record<string, unknown>[]).map((
    { filename, content_type, sha256, content_id },
  ) => ({ filename, content_type, sha256, content_id }));
  const hashed = { to, cc, bcc, subject, text, html, attachments, reply_to, send_at };
  return createHash("sha256").update(canonicalJson(hashed as never)).digest("hex");
}

Deno.test("HTML that a person approves is reduced when it is written, shown and sent as it is then", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, {
    to: "ann@example.org",
    subject: "Two faces",
    html: TWO_FACED,
    attachments: [LOGO],
    reply_to: "answers@example.org",
    send_at: new Date(relay.clock.now() + 3_600_000).toISOString(),
  });
  assert.ok(draft.html.includes(REDUCED), draft.html);
  assert.ok(draft.html.includes(`<img src="cid:logo@example" alt="Logo">`));
  assert.ok(draft.html.includes(`<a href="https://t.example/1.gif">Far</a>`));
  assert.doesNotMatch(draft.html, /style|class|nobody|hover/);
  assert.deepEqual(draft.html_reduced, [
    "attribute:class",
    "attribute:onclick",
    "hidden_text",
    "remote_pictures",
    "style_sheets",
  ]);
  assert.equal(draft.content_hash, hashOf(draft));
  const path = `/v1/mail/drafts/${draft.id}`;
  assert.deepEqual(accepted(await owner.ask("GET", path), 200), draft);
  const { data: [row] } = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/drafts`),
    200,
  );
  assert.deepEqual(row.html_reduced, draft.html_reduced);

  const mail = await newestApproval(relay);
  const page = accepted(await openPage(relay, mail), 200);
  const [, address] = /<iframe[^>]* src="([^"]+)"/.exec(page)!;
  assert.match(page, /<iframe[^>]* sandbox=""/);
  for (const shown of ["answers@example.org", "logo@example", "hidden_text", "For both"]) {
    assert.ok(page.includes(shown), shown);
  }
  const frame = await openPage(relay, { path: address!.replaceAll("&amp;", "&") });
  assert.equal(frame.status, 200);
  assert.equal(
    frame.headers.get("content-security-policy"),
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  );
  assert.equal(frame.headers.get("cache-control"), "no-store");
  assert.equal(
    frame.body.replaceAll("\r\n", "\n"),
    draft.html.replace("cid:logo@example", `data:image/png;base64,${PIXEL}`),
  );

  accepted(await decide(relay, mail, "approve"), 200);
  const [sent] = await sentMessages(owner, inbox.id);
  const found = await delivered(owner, sent.id);
  assert.equal(found.html, draft.html);
  assert.equal(
    accepted(await owner.ask("GET", `/v1/mail/messages/${sent.id}`), 200).html,
    draft.html,
  );
  for (const words of ["For both", "Far [https://t.example/1.gif]"]) {
    assert.ok(found.text!.includes(words), words);
  }
  assert.doesNotMatch(found.text!, /nobody/);
  assert.equal((await openPage(relay, { path: address!.replaceAll("&amp;", "&") })).status, 410);
});

Deno.test("what a key of a draft_only inbox sends or answers is reduced, for any key, and on no direct one", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const body = { ...LETTER, html: TWO_FACED };
  const send = `/v1/mail/inboxes/${inbox.id}/messages/send`;
  const asked = accepted(await agent.ask("POST", send, { body }), 202);
  assert.ok(asked.draft.html.includes(REDUCED));
  assert.equal(asked.draft.text, LETTER.text);
  const byOwner = await newDraft(owner, inbox.id, body);
  assert.equal(byOwner.html, asked.draft.html);
  const direct = accepted(await owner.ask("POST", send, { body }), 202);
  assert.equal(direct.html, TWO_FACED);
  const reply = accepted(
    await agent.ask("POST", `/v1/mail/messages/${direct.id}/reply`, { body: { html: TWO_FACED } }),
    202,
  );
  assert.equal(reply.draft.html, asked.draft.html);
  const other = await owner.inbox();
  const unreduced = await newDraft(owner, other.id, body);
  assert.deepEqual([unreduced.html, unreduced.html_reduced], [TWO_FACED, []]);
  accepted(
    await owner.ask("PATCH", `/v1/mail/drafts/${unreduced.id}`, { body: { subject: "x" } }),
    200,
  );
  const { html } = accepted(await owner.ask("GET", `/v1/mail/drafts/${unreduced.id}`), 200);
  assert.equal(html, TWO_FACED);
});

Deno.test("a change reduces anew: other HTML, and a picture whose attachment has gone", async () => {
  await using relay = await startMailRelay();
  const { agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, {
    ...LETTER,
    html: TWO_FACED,
    attachments: [LOGO, { ...LOGO, content_id: "other@example" }],
  });
  const path = `/v1/mail/drafts/${draft.id}`;
  const change = async (body: unknown) => accepted(await agent.ask("PATCH", path, { body }), 200);
  const subject = await change({ subject: "Else" });
  assert.deepEqual([subject.html, subject.html_reduced], [draft.html, draft.html_reduced]);
  assert.equal(subject.content_hash, hashOf(subject));
  const bare = await change({ attachments: [{ id: "att_1" }] });
  assert.ok(!bare.html.includes("<img") && bare.html.includes("Logo"));
  assert.deepEqual(bare.html_reduced, [...draft.html_reduced, "pictures"].sort());
  const twice = await change({
    attachments: [{ id: "att_1" }, { ...LOGO, content_id: "OTHER@example" }],
  });
  const named = await change({ html: `<img src="cid:other@example" alt="Two have this id">` });
  assert.equal(named.html, "Two have this id");
  assert.deepEqual([twice.revision, named.revision], [4, 5]);
  const formed = await change({ html: `<form>a</form>` });
  assert.deepEqual([formed.html, formed.html_reduced], ["<div>a</div>", ["element:form"]]);
  const none = await change({ html: `<p hidden>b</p><!-- c -->` });
  assert.deepEqual([none.html, none.html_reduced], [null, ["comments", "hidden_text"]]);
});

Deno.test("drafts of an inbox that becomes draft_only are reduced before anybody reads or sends them", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay, { inbox: { send_policy: "direct" } });
  const body = { ...LETTER, html: TWO_FACED };
  const [read, sent, changed] = [
    await newDraft(agent, inbox.id, body),
    await newDraft(agent, inbox.id, body),
    await newDraft(agent, inbox.id, { ...body, client_id: "c" }),
  ];
  const plain = await newDraft(agent, inbox.id, LETTER);
  const policy = (send_policy: string) =>
    owner.ask("PATCH", `/v1/mail/inboxes/${inbox.id}`, { body: { send_policy } });
  accepted(await policy("draft_only"), 200);

  const answers = await Promise.all(
    Array.from({ length: 5 }, () => agent.ask("GET", `/v1/mail/drafts/${read.id}`)),
  );
  for (const answer of answers) {
    const now = accepted(answer, 200);
    assert.deepEqual([now.revision, now.html.includes(REDUCED)], [2, true]);
    assert.equal(now.content_hash, hashOf(now));
  }
  const send = (id: string, revision: number) =>
    owner.ask("POST", `/v1/mail/drafts/${id}/send`, { body: { revision } });
  assertMailRefused(await send(sent.id, 1), "draft_changed");
  const { id } = accepted(await send(sent.id, 2), 202);
  assert.ok((await delivered(owner, id)).html!.includes(REDUCED));
  const patched = accepted(
    await agent.ask("PATCH", `/v1/mail/drafts/${changed.id}`, { body: { subject: "x" } }),
    200,
  );
  assert.deepEqual([patched.revision, patched.html.includes(REDUCED)], [2, true]);
  const again = accepted(
    await agent.ask("POST", `/v1/mail/inboxes/${inbox.id}/drafts`, { body: { client_id: "c" } }),
    200,
  );
  assert.equal(again.html, patched.html);
  // One without HTML goes out as it is.
  accepted(await send(plain.id, 1), 202);
  // A person is asked for each that waits for them now.
  const asked = await approvalMails(relay);
  for (const one of [read, changed]) {
    assert.equal(asked.filter(({ path }) => path.includes(one.id)).length, 1);
  }
  assert.equal(accepted(await policy("direct"), 200).send_policy, "direct");
  const kept = accepted(await owner.ask("GET", `/v1/mail/drafts/${read.id}`), 200);
  assert.equal(kept.revision, 2);
});

Deno.test("while an inbox changes its policy no draft_only one keeps HTML that is not reduced", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay, { inbox: { send_policy: "direct" } });
  const body = { ...LETTER, html: TWO_FACED };
  const policy = (send_policy: string) =>
    owner.ask("PATCH", `/v1/mail/inboxes/${inbox.id}`, { body: { send_policy } });
  const made = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      if (i % 3 === 0) await policy(i % 2 === 0 ? "draft_only" : "direct");
      return await newDraft(agent, inbox.id, body);
    }),
  );
  accepted(await policy("draft_only"), 200);
  assert.equal(made.length, 30);
  for (const { id } of made) {
    const { html, revision } = accepted(await owner.ask("GET", `/v1/mail/drafts/${id}`), 200);
    assert.ok(html.includes(REDUCED) && revision <= 2);
  }
});

Deno.test("the link of a draft from before HTML was reduced shows it reduced, and approves it then only", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, { ...LETTER, html: "<p>a</p>" });
  const former = await newestApproval(relay);
  const key = draftKey(owner.orgId, inbox.id, draft.id);
  // As a former version wrote it: without what was taken out.
  const { reduced: _, ...row } = (await kv.get<Record<string, unknown>>(key)).value!;
  assert.deepEqual(_, []);
  await kv.set(key, row);
  assertMailRefused(
    await askMail(relay.url, "POST", former.path.split("?")[0]!, {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ token: former.token, action: "approve" }).toString(),
    }),
    "draft_changed",
  );
  assert.match(accepted(await openPage(relay, former), 200), /This mail was changed/);
  assert.deepEqual(await sentMessages(owner, inbox.id), []);
  const mail = await newestApproval(relay);
  assert.notEqual(mail.token, former.token);
  accepted(await decide(relay, mail, "approve"), 200);
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);

  // Where nobody has to approve it any more, its link leads nowhere.
  const other = await newDraft(agent, inbox.id, { ...LETTER, html: "<p>a</p>" });
  const link = await newestApproval(relay);
  const otherKey = draftKey(owner.orgId, inbox.id, other.id);
  await kv.set(otherKey, { ...(await kv.get<object>(otherKey)).value, reduced: null });
  const direct = { body: { send_policy: "direct" } };
  accepted(await owner.ask("PATCH", `/v1/mail/inboxes/${inbox.id}`, direct), 200);
  for (let i = 0; i < 2; i++) accepted(await openPage(relay, link), 410);
});

Deno.test("HTML that grows beyond what a mail may be by being written plainly is refused", async () => {
  await using relay = await startMailRelay();
  const { agent, inbox } = await makeDraftWorld(relay);
  const body = { ...LETTER, html: "&".repeat(300_000) };
  const path = `/v1/mail/inboxes/${inbox.id}/drafts`;
  assertMailRefused(await agent.ask("POST", path, { body }), "payload_too_large");
  accepted(await agent.ask("POST", path, { body: { ...LETTER, html: "&".repeat(150_000) } }), 201);
});
