/** A person approves drafts by the links that they are mailed. */
import assert from "node:assert/strict";
import { countReads } from "../../support/count_reads.ts";
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
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { claimLink, follow } from "../../support/mail_links.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { openMemoryKv } from "../../support/read_through.ts";

const HOUR_MS = 3_600_000;
const ADMIN_TOKEN = "an-admin-token-of-forty-characters-in-all";

Deno.test("a person approves a draft by its link: it goes out once, and the link leads nowhere then", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, { ...LETTER, bcc: "b@example.org" });
  const mail = await newestApproval(relay);
  assert.match(mail.path, new RegExp(`^/mail/drafts/${draft.id}\\?token=`));
  assert.ok(mail.text.includes(agent.key.slice(0, 12)) && mail.text.includes(inbox.address));
  // What the agent wrote is on the page alone.
  assert.ok(!/Hello|ann@|How are/.test(mail.text), mail.text);
  const page = await openPage(relay, mail);
  accepted(page, 200);
  for (const text of ["ann@example.org", "b@example.org", "Hello", "How are you?", inbox.address]) {
    assert.ok(page.body.includes(text), text);
  }
  assert.match(
    page.headers.get("content-security-policy")!,
    /default-src 'none'.*frame-ancestors 'none'/,
  );
  assert.equal(page.headers.get("cache-control"), "no-store");
  assert.equal(page.headers.get("referrer-policy"), "no-referrer");
  assert.equal((await sentMessages(owner, inbox.id)).length, 0);
  const approved = await decide(relay, mail, "approve");
  assert.match(accepted(approved, 200), /on its way/);
  const sent = await sentMessages(owner, inbox.id);
  assert.deepEqual(sent.map(({ subject }) => subject), ["Hello"]);
  assert.equal(sent[0].recipients.length, 2);
  for (
    const answer of [
      await decide(relay, mail, "approve"),
      await decide(relay, mail, "reject"),
      await openPage(relay, mail),
    ]
  ) {
    assert.match(accepted(answer, 410), /This link does not work/);
  }
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);
});

Deno.test("a rejected draft is discarded, and nothing goes out", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, LETTER);
  const mail = await newestApproval(relay);
  assert.match(accepted(await decide(relay, mail, "reject"), 200), /discarded/);
  assertMailRefused(await owner.ask("GET", `/v1/mail/drafts/${draft.id}`), "not_found");
  accepted(await decide(relay, mail, "approve"), 410);
  assert.deepEqual(await sentMessages(owner, inbox.id), []);
});

Deno.test("neither a scanner's GET or HEAD, nor a press without a decision, nor another site's form does anything", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  await newDraft(agent, inbox.id, LETTER);
  const mail = await newestApproval(relay);
  const callers: Record<string, string>[] = [{}, { Accept: "*/*" }, { "User-Agent": "curl/8" }];
  for (const headers of callers) {
    for (const method of ["GET", "HEAD"]) {
      assert.equal((await askMail(relay.url, method, mail.path, { headers })).status, 200);
    }
    const tempted = await askMail(relay.url, "GET", `${mail.path}&action=approve`, { headers });
    assert.notEqual(tempted.status, 500);
  }
  for (const action of ["", "APPROVE", "approve\n", "send"]) {
    accepted(await decide(relay, mail, action), 400);
  }
  const path = mail.path.split("?")[0]!;
  const body = { token: mail.token, action: "approve" };
  accepted(await askMail(relay.url, "POST", path, { body }), 400);
  accepted(await askMail(relay.url, "POST", mail.path, {}), 400);
  const foreign = await decide(relay, mail, "approve", { Origin: "https://evil.example" });
  accepted(foreign, 403);
  assert.deepEqual(await sentMessages(owner, inbox.id), []);
  // A browser tells no origin, or the page's own.
  accepted(await decide(relay, mail, "approve", { Origin: "null" }), 200);
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);
});

Deno.test("a token opens its own draft and revision alone, and no key opens the page", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const one = await newDraft(agent, inbox.id, LETTER);
  const first = await newestApproval(relay);
  const other = await newDraft(agent, inbox.id, LETTER);
  const second = await newestApproval(relay);
  const [ulid, mac] = first.token.split(".") as [string, string];
  const [otherUlid, otherMac] = second.token.split(".") as [string, string];
  const path = (id: string, token: string) => `/mail/drafts/${id}?token=${token}`;
  const wrong = [
    path(one.id, second.token),
    path(other.id, first.token),
    path(one.id, `${ulid}.${otherMac}`),
    path(one.id, `${otherUlid}.${mac}`),
    path(one.id, `${ulid}.${mac}=`),
    path(one.id, mac),
    path(one.id, agent.key),
    path(one.id, owner.key),
    path("dft_01ARZ3NDEKTSV4RRFFQ69G5FAV", first.token),
    path("x", first.token),
    `/mail/drafts/${one.id}`,
    `/mail/drafts/${one.id}?token=${first.token}&token=${first.token}`,
  ];
  assert.equal(wrong.length, 12);
  for (const one of wrong) {
    const token = new URL(one, relay.url).searchParams.get("token") ?? "";
    for (const key of [undefined, owner.key, agent.key]) {
      const headers: Record<string, string> = { Accept: "text/html" };
      accepted(await askMail(relay.url, "GET", one, { headers, ...(key ? { key } : {}) }), 410);
    }
    if (one.match(/token=/g)?.length === 2) continue;
    accepted(await decide(relay, { path: one, token }, "approve"), 410);
  }
  assert.deepEqual(await sentMessages(owner, inbox.id), []);
});

Deno.test("the link of a former revision shows the new one, without a button, and approves nothing", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, LETTER);
  const former = await newestApproval(relay);
  accepted(
    await agent.ask("PATCH", `/v1/mail/drafts/${draft.id}`, { body: { to: "eve@example.org" } }),
    200,
  );
  for (const action of ["approve", "reject"]) {
    const stale = accepted(await decide(relay, former, action), 409);
    assert.match(stale, /was changed/);
    assert.ok(stale.includes("eve@example.org") && !stale.includes("<form"));
  }
  const stale = accepted(await openPage(relay, former), 200);
  assert.ok(stale.includes("eve@example.org") && !stale.includes("<form"));
  assert.deepEqual(await sentMessages(owner, inbox.id), []);
  accepted(await owner.ask("GET", `/v1/mail/drafts/${draft.id}`), 200);
  // The change was mailed too, and the page leads on to it.
  const mails = await approvalMails(relay);
  assert.equal(mails.length, 2);
  assert.ok(stale.includes(mails[0]!.path.replaceAll("&", "&amp;")));
  accepted(await decide(relay, mails[0]!, "approve"), 200);
  assert.deepEqual(
    (await sentMessages(owner, inbox.id)).map(({ to }) => to[0].address),
    ["eve@example.org"],
  );
});

Deno.test("changes before the mail has gone make no second one, and it tells of the newest revision", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, { ...LETTER, to: "ann@defer.test" });
  await approvalMails(relay);
  const before = (await approvalMails(relay)).length;
  assert.equal(before, 1);
  // Ten mails an hour, then one summary of the drafts since.
  for (let i = 0; i < 12; i++) await newDraft(agent, inbox.id, { ...LETTER, subject: `No ${i}` });
  for (const subject of ["a", "b", "c"]) {
    accepted(
      await agent.ask("PATCH", `/v1/mail/drafts/${draft.id}`, { body: { subject } }),
      200,
    );
  }
  assert.equal((await approvalMails(relay)).length, 10);
  relay.clock.advance(HOUR_MS);
  const mails = await approvalMails(relay);
  assert.equal(mails.length, 11);
  assert.match(mails[0]!.subject, /^4 mails wait/);
  const links = [...mails[0]!.text.matchAll(/\/mail\/drafts\/(\S+)\?token=(\S+)/g)];
  assert.equal(links.length, 4);
  const mine = links.find(([, id]) => id === draft.id)!;
  const path = mine[0];
  accepted(await decide(relay, { path, token: mine[2]! }, "approve"), 200);
  assert.deepEqual((await sentMessages(owner, inbox.id)).map(({ subject }) => subject), ["c"]);
  // There is room for mails again.
  relay.clock.advance(HOUR_MS);
  await newDraft(agent, inbox.id, LETTER);
  assert.equal((await approvalMails(relay)).length, 12);
});

Deno.test("a link works for 72 hours, and for the owner who was asked", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const draft = await newDraft(agent, inbox.id, LETTER);
  const mail = await newestApproval(relay);
  relay.clock.advance(72 * HOUR_MS - 1);
  accepted(await openPage(relay, mail), 200);
  relay.clock.advance(1);
  accepted(await openPage(relay, mail), 410);
  accepted(await decide(relay, mail, "approve"), 410);
  const patch = { body: { text: "Again" } };
  accepted(await agent.ask("PATCH", `/v1/mail/drafts/${draft.id}`, patch), 200);
  const again = await newestApproval(relay);
  accepted(await openPage(relay, again), 200);
  accepted(await follow(relay, await claimLink(relay, owner.key, "new@example.org")), 200);
  accepted(await openPage(relay, again), 410);
  accepted(await decide(relay, again, "approve"), 410);
  accepted(await agent.ask("PATCH", `/v1/mail/drafts/${draft.id}`, patch), 200);
  const theirs = await newestApproval(relay, "new@example.org");
  accepted(await decide(relay, theirs, "approve"), 200);
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);
});

Deno.test("while the org is suspended nobody decides, and a draft outlives the key that made it", async () => {
  await using relay = await startMailRelay({ config: { adminToken: ADMIN_TOKEN } });
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  await newDraft(agent, inbox.id, LETTER);
  const mail = await newestApproval(relay);
  const admin = { key: ADMIN_TOKEN };
  const org = `/v1/admin/mail/orgs/${owner.orgId}`;
  accepted(await askMail(relay.url, "POST", `${org}/suspend`, admin), 200);
  for (const answer of [await openPage(relay, mail), await decide(relay, mail, "approve")]) {
    assert.match(accepted(answer, 403), /suspended/);
  }
  accepted(await askMail(relay.url, "POST", `${org}/unsuspend`, admin), 200);
  const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
  const key = data.find(({ name }: { name: string }) => name === "agent");
  accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${key.id}`), 204);
  assert.match(accepted(await openPage(relay, mail), 200), /an API key that is deleted by now/);
  accepted(await decide(relay, mail, "approve"), 200);
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);
});

Deno.test("what cannot be sent is refused on the page and stays a draft", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay, {
    inbox: { allow_send: ["example.org"] },
  });
  const empty = await newDraft(agent, inbox.id, { subject: "x" });
  const mail = await newestApproval(relay);
  const page = accepted(await openPage(relay, mail), 200);
  assert.match(page, /It cannot be sent as it is/);
  assert.ok(!page.includes("Approve and send") && page.includes("Reject and discard"));
  accepted(await decide(relay, mail, "approve"), 400);
  const body = { to: "ann@else.example", text: "x" };
  accepted(await agent.ask("PATCH", `/v1/mail/drafts/${empty.id}`, { body }), 200);
  const second = await newestApproval(relay);
  assert.match(accepted(await decide(relay, second, "approve"), 403), /allow_send/);
  accepted(await owner.ask("GET", `/v1/mail/drafts/${empty.id}`), 200);
  accepted(await openPage(relay, second), 200);
});

Deno.test("with its inbox, or its org, a draft goes, and all that led to it", async () => {
  await using relay = await startMailRelay();
  for (const end of ["inbox", "org"] as const) {
    const { owner, agent, inbox } = await makeDraftWorld(relay, { email: `${end}@example.org` });
    const attachments = [{ filename: "a", content_type: "text/plain", content: btoa("a") }];
    await newDraft(agent, inbox.id, { ...LETTER, attachments, client_id: "c" });
    const mail = await newestApproval(relay, `${end}@example.org`);
    if (end === "inbox") accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${inbox.id}`), 204);
    else accepted(await owner.deleteOrg(), 204);
    accepted(await decide(relay, mail, "approve"), 410);
    await relay.relay.crons.figures!();
    accepted(await openPage(relay, mail), 410);
    if (end === "org") continue;
    relay.clock.advance(3_600_000); // until then the bytes count
    await relay.relay.crons.figures!();
    const { storage_bytes } = accepted(await owner.ask("GET", "/v1/mail/usage"), 200);
    assert.equal(storage_bytes.used, 0);
  }
});

Deno.test("the page of a draft reads its texts once", async () => {
  using kv = await openMemoryKv();
  const counted = countReads(kv);
  await using relay = await startMailRelay({
    deps: { kv: counted.kv },
    config: {
      hosted: true,
      sharedStore: true,
      custodyKeys: [crypto.getRandomValues(new Uint8Array(32))],
    },
  });
  const { agent, inbox } = await makeDraftWorld(relay);
  await newDraft(agent, inbox.id, { ...LETTER, html: "<p>How <b>are</b> you?</p>" });
  const mail = await newestApproval(relay);
  counted.takeCounts();
  const page = accepted(await openPage(relay, mail), 200);
  assert.ok(page.includes("How are you?"));
  assert.equal(counted.takeCounts()["blob-part"], 1);
});
