/** Mail orgs on the operator's pages: their figures, suspending with a reason, and nothing of their mail. */
import assert from "node:assert/strict";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startTestRelay } from "../../support/relay.ts";
import { deliver, newSendingOrg, send } from "../../support/sending_org.ts";
import { assertKeptByNobody, signIn, visit } from "../../messaging/operator/operator.ts";

const config = { adminToken: ADMIN_TOKEN };

Deno.test("/admin/orgs tells each org's size, sends, bounces and complaints, and nothing of its mail", async () => {
  await using relay = await startMailRelay({ config });
  const org = await newSendingOrg(relay, "owner@example.org");
  const trial = await newOrg(relay);
  const inbox = await org.inbox();
  const letter = { subject: "A secret subject", text: "A secret text." };
  accepted(await send(org, inbox, { ...letter, to: "secret-name@bounce.test" }), 202);
  accepted(await send(org, inbox, { ...letter, to: "secret-name@example.net" }), 202);
  accepted(await send(org, inbox, { ...letter, to: "secret-name@defer.test" }), 202);
  await deliver(relay);
  const cookie = await signIn(relay);
  const page = async (path: string) => {
    const answer = await visit(relay, path, { cookie });
    assert.equal(answer.status, 200, path);
    assertKeptByNobody(answer);
    assert.doesNotMatch(answer.text, /secret/i, `${path} tells nothing of the mail`);
    return answer.text;
  };
  const all = await page("/admin/orgs");
  const row = /<tr>(?:(?!<tr>)[^])*owner@example\.org[^]*?<\/tr>/.exec(all)![0];
  const cells = [...row.matchAll(/<td[^>]*>([^<]*)/g)].map(([, text]) => text);
  assert.deepEqual([cells[0], cells[1], ...cells.slice(3)], ["verified", "1", "3", "1", "0"]);
  assert.ok(all.includes(trial.orgId));
  const one = await page(`/admin/orgs/${org.orgId}`);
  for (
    const fact of [
      "owner@example.org",
      org.orgId,
      "<dt>Bounced</dt><dd>1",
      "<dt>Under way</dt><dd>1",
    ]
  ) {
    assert.ok(one.includes(fact), fact);
  }
  const overview = await page("/admin");
  assert.match(overview, /defer\.test[^]*451/);
  assert.match(overview, /bounce\.test[^]*bounced 550 5\.1\.1/);
  assert.ok(overview.includes(`/admin/orgs/${org.orgId}`));
  const only = async (q: string) => {
    const text = await page(`/admin/orgs?q=${encodeURIComponent(q)}`);
    return [...text.matchAll(/href="\/admin\/orgs\/(org_[^"]+)"/g)].map(([, id]) => id);
  };
  for (const q of ["OWNER@example", org.orgId, org.orgId.toLowerCase(), inbox.address]) {
    assert.deepEqual(await only(q), [org.orgId], q);
  }
  for (const q of ["nobody", "org_0", "x@agents.test", "<b>", "%"]) {
    assert.deepEqual(await only(q), [], q);
  }
  assert.doesNotMatch(await page("/admin/orgs?q=%3Cb%3E"), /<b>/);
});

Deno.test("an org is suspended with its reason, asked back first, and lifted again", async () => {
  await using relay = await startMailRelay({ config });
  const org = await newSendingOrg(relay, "owner@example.org");
  const cookie = await signIn(relay);
  const reason = '<b>spam</b> & "more"';
  const form = { org: org.orgId, reason };
  const asked = await visit(relay, "/admin/orgs/suspend", { cookie, form });
  assert.match(asked.text, /Suspend owner@example\.org\?/);
  assert.match(asked.text, /&lt;b&gt;spam/);
  assert.equal((await org.ask("GET", "/v1/mail/org")).status, 200, "not yet");
  const confirmed = { ...form, confirmed: "yes" };
  const done = await visit(relay, "/admin/orgs/suspend", { cookie, form: confirmed });
  assert.equal(done.headers.get("location"), `/admin/orgs/${org.orgId}?done=suspended`);
  const refused = await org.ask("GET", "/v1/mail/org");
  assert.deepEqual([refused.status, refused.body.error.code], [403, "org_suspended"]);
  assert.doesNotMatch(JSON.stringify(refused.body), /spam/);
  const shown = await visit(relay, `/admin/orgs/${org.orgId}`, { cookie });
  assert.match(shown.text, /Suspended since[^]*&lt;b&gt;spam/);
  assert.match((await visit(relay, "/admin/orgs", { cookie })).text, />suspended</);
  await visit(relay, "/admin/orgs/unsuspend", { cookie, form: { org: org.orgId } });
  assert.equal((await org.ask("GET", "/v1/mail/org")).status, 200);
  const lifted = await visit(relay, `/admin/orgs/${org.orgId}`, { cookie });
  assert.doesNotMatch(lifted.text, /spam/);
  assert.ok(!JSON.stringify(relay.logged).includes("spam"));
});

Deno.test("pages of orgs are the operator's alone, and say where mail is off", async () => {
  await using relay = await startMailRelay({ config });
  const org = await newOrg(relay);
  for (const path of ["/admin/orgs", `/admin/orgs/${org.orgId}`]) {
    const answer = await visit(relay, path);
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/admin"]);
  }
  const form = { org: org.orgId, confirmed: "yes" };
  assert.equal((await visit(relay, "/admin/orgs/suspend", { form })).status, 401);
  const cookie = await signIn(relay);
  const foreign = { cookie, form, origin: "https://evil.example" };
  for (const path of ["suspend", "unsuspend"]) {
    assert.equal((await visit(relay, `/admin/orgs/${path}`, foreign)).status, 403);
  }
  assert.equal((await org.ask("GET", "/v1/mail/org")).status, 200, "nobody was suspended");
  for (const id of ["org_0", "x", "%2e", org.orgId.toLowerCase()]) {
    assert.equal((await visit(relay, `/admin/orgs/${id}`, { cookie })).status, 404, id);
  }
  const long = { ...form, reason: "x".repeat(201) };
  assert.equal((await visit(relay, "/admin/orgs/suspend", { cookie, form: long })).status, 400);
  await using off = await startTestRelay({ config });
  const signedIn = await signIn(off);
  assert.equal((await visit(off, "/admin/orgs", { cookie: signedIn })).status, 503);
  assert.doesNotMatch((await visit(off, "/admin", { cookie: signedIn })).text, /Mail orgs/);
});

Deno.test("/admin/orgs goes on to older orgs, each shown once", async () => {
  await using relay = await startMailRelay({
    config,
    limits: { mailRegistrationsPerIpPerHour: 100 },
  });
  const ids: string[] = [];
  for (let i = 0; i < 53; i++) {
    relay.clock.advance(1);
    ids.push((await newOrg(relay)).orgId);
  }
  const cookie = await signIn(relay);
  const listed = ({ text }: { text: string }) =>
    [...text.matchAll(/<a href="\/admin\/orgs\/(org_[^"]+)"/g)].map(([, id]) => id!);
  const first = await visit(relay, "/admin/orgs", { cookie });
  const older = /href="(\/admin\/orgs\?older_than=[^"]+)"/.exec(first.text)![1]!;
  const second = await visit(relay, older, { cookie });
  assert.deepEqual([...listed(first), ...listed(second)], ids.toReversed());
  assert.doesNotMatch(second.text, /Older orgs/);
});
