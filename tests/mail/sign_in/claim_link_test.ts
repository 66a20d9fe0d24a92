/** Claiming an org by a link in a mail, in local mode. */
import assert from "node:assert/strict";
import {
  accepted,
  assertMailRefused,
  type MailKeyHolder,
  newOrg,
} from "../../support/mail_caller.ts";
import {
  askForLink,
  BROWSER,
  CLAIM_CONFIRM,
  claimLink,
  follow,
  linkMails,
  MAGIC_CONFIRM,
  newestLink,
} from "../../support/mail_links.ts";
import { askMail, signRegistration, startMailRelay } from "../../support/mail_relay.ts";
import { rowsNaming, startMailStore } from "../../support/mail_store.ts";

const EMAIL = "owner@example.org";
const HOUR_MS = 3_600_000;

const claim = (holder: MailKeyHolder, email: string) =>
  holder.ask("POST", "/v1/mail/org/claim", { body: { email } });

Deno.test("a confirmed claim makes a trial verified, once", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const holder = await newOrg(relay);
  relay.clock.advance(1_000);
  const asked = await claim(holder, "Owner@Example.ORG");
  const expires_at = new Date(relay.clock.now() + HOUR_MS).toISOString();
  assert.deepEqual([asked.status, asked.body], [202, { email: EMAIL, expires_at }]);
  const waiting = accepted(await holder.readOrg(), 200);
  assert.deepEqual(waiting.pending_claim, { email: EMAIL, expires_at });
  assert.equal(waiting.trial, true);
  assert.equal((await rowsNaming(kv, '"mail-trial"')).length, 1);
  const mail = await newestLink(relay, EMAIL);
  assert.match(mail.text, RegExp(`The mail org ${holder.orgId} at `));
  assert.match(
    mail.text,
    RegExp(`begins with ${holder.key.slice(0, 12)}, used from 127\\.0\\.0\\.1`),
  );
  assert.match(mail.text, /This was not me:\nhttp\S+#not-me\n/);

  const answer = await follow(relay, mail);
  const confirmed = accepted(answer, 200);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.deepEqual(confirmed, {
    ...waiting,
    trial: false,
    expires_at: null,
    verified_email: EMAIL,
    pending_claim: null,
    inboxes: { count: 0, limit: 10 },
  });
  assert.deepEqual(accepted(await holder.readOrg(), 200), confirmed);
  assert.deepEqual(await rowsNaming(kv, '"mail-trial"'), []);
  assertMailRefused(await follow(relay, mail), "link_expired");
  relay.clock.advance(40 * 86_400_000);
  await relay.relay.crons.figures!();
  accepted(await holder.readOrg(), 200);
});

Deno.test("the mail of a claim says nothing that a stranger chose", async () => {
  await using relay = await startMailRelay();
  const body = signRegistration(relay.clock.now(), undefined, "Call +1 555 0100, urgent");
  const { api_key } = accepted(
    await askMail(relay.url, "POST", "/v1/mail/agents/register", { body }),
    201,
  );
  const mail = await claimLink(relay, api_key, EMAIL);
  const page = await askMail(relay.url, "GET", mail.path, { headers: BROWSER });
  for (const text of [mail.text, mail.subject, page.body]) assert.doesNotMatch(text, /555|urgent/);
});

Deno.test("a new claim ends the former link, and the mail that was still to go", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const first = await claimLink(relay, holder.key, EMAIL);
  const second = await claimLink(relay, holder.key, "other@example.org");
  assertMailRefused(await follow(relay, first), "link_expired");
  assert.equal(accepted(await follow(relay, second), 200).verified_email, "other@example.org");
});

Deno.test("an expired trial is recovered by a link that was sent before, within its hour", async () => {
  await using relay = await startMailRelay();
  const [one, two] = [await newOrg(relay), await newOrg(relay)];
  const inbox = await one.inbox({ local_part: "bot" });
  relay.clock.advance(24 * HOUR_MS - 1_000);
  const [early, late] = [
    await claimLink(relay, one.key, EMAIL),
    await claimLink(relay, two.key, "late@example.org"),
  ];
  relay.clock.advance(2_000);
  assertMailRefused(await one.readOrg(), "trial_expired");
  assertMailRefused(await claim(one, EMAIL), "trial_expired");
  assert.equal(accepted(await follow(relay, early), 200).trial, false);
  assert.equal(accepted(await one.readOrg(), 200).expires_at, null);
  const recovered = accepted(await one.ask("GET", `/v1/mail/inboxes/${inbox.id}`), 200);
  assert.equal(recovered.status, "active");
  relay.clock.advance(HOUR_MS - 2_000);
  assertMailRefused(await follow(relay, late), "link_expired");
  assertMailRefused(await two.readOrg(), "trial_expired");
});

Deno.test("three claims an org an hour; another org has its own three", async () => {
  await using relay = await startMailRelay();
  const [holder, other] = [await newOrg(relay), await newOrg(relay)];
  for (let i = 0; i < 3; i++) accepted(await claim(holder, `a${i}@example.org`), 202);
  const refused = await claim(holder, EMAIL);
  assertMailRefused(refused, "rate_limited", /3 claim links/);
  assert.equal(refused.body.retry_after_ms, HOUR_MS);
  accepted(await claim(other, EMAIL), 202);
  const { pending_claim } = accepted(await holder.readOrg(), 200);
  assert.equal(pending_claim.email, "a2@example.org");
  relay.clock.advance(HOUR_MS);
  accepted(await claim(holder, EMAIL), 202);
});

Deno.test("the button not me ends a claim: its link works no more, the org stays as it was", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const cancel = async (token: string, asPage: boolean) =>
    await askMail(relay.url, "POST", CLAIM_CONFIRM, {
      body: asPage
        ? new URLSearchParams({ token, action: "cancel" }).toString()
        : { token, action: "cancel" },
      headers: asPage ? { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" } : {},
    });
  for (const asPage of [false, true]) {
    const mail = await claimLink(relay, holder.key, EMAIL);
    const answer = await cancel(mail.token, asPage);
    assert.equal(answer.status, 200);
    if (asPage) assert.match(answer.body, /The claim is ended/);
    else assert.deepEqual(answer.body, { cancelled: true });
    assertMailRefused(await follow(relay, mail), "link_expired");
    assertMailRefused(await cancel(mail.token, false), "link_expired");
    const { pending_claim, trial } = accepted(await holder.readOrg(), 200);
    assert.deepEqual([pending_claim, trial], [null, true]);
  }
});

Deno.test("the claim of a key that was deleted since confirms nothing", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const leaked = await holder.newKey({ name: "leaked" });
  const mail = await claimLink(relay, leaked.api_key, "thief@example.org");
  accepted(await holder.ask("DELETE", `/v1/mail/api-keys/${leaked.id}`), 204);
  assertMailRefused(await follow(relay, mail), "link_expired");
  assert.equal(accepted(await holder.readOrg(), 200).verified_email, null);
});

Deno.test("a claim link opens no sign-in, and the link of an org that is gone nothing", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const mail = await claimLink(relay, holder.key, EMAIL);
  const query = `?token=${mail.token}`;
  assertMailRefused(await askMail(relay.url, "GET", MAGIC_CONFIRM + query), "link_expired");
  accepted(await holder.deleteOrg(), 204);
  assertMailRefused(await follow(relay, mail), "link_expired");
});

Deno.test("claiming the address that the org has already changes nothing and mails nobody else", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const first = accepted(await follow(relay, await claimLink(relay, holder.key, EMAIL)), 200);
  assert.deepEqual(
    accepted(await follow(relay, await claimLink(relay, holder.key, EMAIL)), 200),
    first,
  );
  assert.deepEqual((await linkMails(relay, EMAIL)).map(({ subject }) => subject.split(" at ")[0]), [
    "Confirm a mail org",
    "Confirm a mail org",
  ]);
});

Deno.test("claims of one address share its window with sign-ins, whichever orgs ask", async () => {
  await using relay = await startMailRelay();
  const [one, two] = [await newOrg(relay), await newOrg(relay)];
  accepted(await claim(one, "owner+a@example.org"), 202);
  accepted(await claim(two, EMAIL), 202);
  accepted(await askForLink(relay, EMAIL), 202);
  for (const answer of [await claim(one, EMAIL), await askForLink(relay, EMAIL)]) {
    assertMailRefused(answer, "rate_limited", /3 sign-in links/);
  }
  // What was refused neither counts for the org nor ends its claim.
  const { pending_claim } = accepted(await one.readOrg(), 200);
  assert.equal(pending_claim.email, "owner+a@example.org");
  for (const email of ["x@example.org", "y@example.org"]) accepted(await claim(one, email), 202);
  relay.clock.advance(HOUR_MS);
  accepted(await claim(two, EMAIL), 202);
});

Deno.test("the claim of an org that was suspended since confirms nothing until that ends", async () => {
  const adminToken = "admin-token-of-thirty-two-characters";
  await using relay = await startMailRelay({ config: { adminToken } });
  const holder = await newOrg(relay);
  const suspend = (what: string) =>
    askMail(relay.url, "POST", `/v1/admin/mail/orgs/${holder.orgId}/${what}`, { key: adminToken });
  const mail = await claimLink(relay, holder.key, EMAIL);
  accepted(await suspend("suspend"), 200);
  assertMailRefused(await follow(relay, mail), "org_suspended");
  accepted(await suspend("unsuspend"), 200);
  assert.equal(accepted(await follow(relay, mail), 200).verified_email, EMAIL);
});
