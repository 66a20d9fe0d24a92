/** A leaked key takes an org over, and its former owner takes it back. */
import assert from "node:assert/strict";
import {
  accepted,
  assertMailRefused,
  type MailKeyHolder,
  newOrg,
} from "../../support/mail_caller.ts";
import {
  BROWSER,
  claimLink,
  follow,
  linkMails,
  magicLink,
  newestLink,
} from "../../support/mail_links.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";

const OWNER = "owner@example.org";
const THIEF = "thief@example.org";
const DAY_MS = 86_400_000;

/** An org of OWNER. */
async function ownedOrg(relay: TestRelay): Promise<MailKeyHolder> {
  const holder = await newOrg(relay);
  accepted(await follow(relay, await claimLink(relay, holder.key, OWNER)), 200);
  return holder;
}

async function takeOver(relay: TestRelay, key: string, email: string): Promise<void> {
  relay.clock.advance(1_000);
  accepted(await follow(relay, await claimLink(relay, key, email)), 200);
  relay.clock.advance(1_000);
}

Deno.test("an org that a stranger claimed with a leaked key is taken back by its owner", async () => {
  await using relay = await startMailRelay();
  const holder = await ownedOrg(relay);
  const older = await holder.newKey({ name: "older" });
  await takeOver(relay, holder.key, THIEF);
  const named = { org_id: holder.orgId };
  const signedIn = accepted(await follow(relay, await magicLink(relay, THIEF, named)), 200);
  assert.equal(signedIn.org_id, holder.orgId);
  const newer = await holder.newKey({ name: "newer" });
  // The next one, which waits in the thief's mailbox.
  const waiting = await claimLink(relay, holder.key, "thief2@example.org");

  const mail = await newestLink(relay, OWNER);
  assert.match(mail.subject, /^A mail org of yours has changed its owner at 127\.0\.0\.1/);
  assert.match(mail.text, RegExp(`begins with ${holder.key.slice(0, 12)}, used from 127`));
  assert.doesNotMatch(mail.text, /thief/);
  const page = await askMail(relay.url, "GET", mail.path, { headers: BROWSER });
  assert.match(page.body, /Take it back/);
  assert.equal(
    accepted(await holder.readOrg(), 200).verified_email,
    THIEF,
    "a page spends nothing",
  );

  const restored = accepted(await follow(relay, mail), 200);
  assert.deepEqual(
    [restored.org_id, restored.verified_email, restored.pending_claim],
    [holder.orgId, OWNER, null],
  );
  for (const key of [signedIn.api_key, newer.api_key]) {
    assertMailRefused(await holder.with(key).readOrg(), "unknown_key");
  }
  for (const key of [holder.key, older.api_key]) accepted(await holder.with(key).readOrg(), 200);
  for (const link of [mail, waiting]) {
    assertMailRefused(await follow(relay, link), "link_expired");
  }
  const thief = accepted(await follow(relay, await magicLink(relay, THIEF)), 200);
  assert.notEqual(thief.org_id, holder.orgId);
  const owner = accepted(await follow(relay, await magicLink(relay, OWNER, named)), 200);
  assert.equal(owner.org_id, holder.orgId);
});

Deno.test("a thief who changes the owner twice has no link that undoes the owner's", async () => {
  await using relay = await startMailRelay();
  const holder = await ownedOrg(relay);
  await takeOver(relay, holder.key, THIEF);
  const owners = await newestLink(relay, OWNER);
  await takeOver(relay, holder.key, "thief2@example.org");
  const [thiefs] = await linkMails(relay, THIEF);
  assert.match(thiefs!.subject, /changed its owner/);
  relay.clock.advance(DAY_MS);
  assert.equal(accepted(await follow(relay, owners), 200).verified_email, OWNER);
  assertMailRefused(await follow(relay, thiefs!), "link_expired");

  // The other way round: the thief's link first, and the owner's still works.
  await takeOver(relay, holder.key, THIEF);
  const again = await newestLink(relay, OWNER);
  await takeOver(relay, holder.key, "thief2@example.org");
  const [later] = await linkMails(relay, THIEF);
  assert.equal(accepted(await follow(relay, later!), 200).verified_email, THIEF);
  assert.equal(accepted(await follow(relay, again), 200).verified_email, OWNER);
});

Deno.test("a thief who changes the owner very often leaves the owner the first link", async () => {
  await using relay = await startMailRelay({ limits: { mailClaimsPerOrgPerHour: 100 } });
  const holder = await ownedOrg(relay);
  for (let i = 0; i < 25; i++) await takeOver(relay, holder.key, `thief${i}@example.org`);
  const { data } = (await askMail(relay.url, "GET", "/dev/mail?limit=100")).body;
  assert.ok(data.length > 0);
  const [mail, ...others] = await linkMails(relay, OWNER);
  assert.match(mail!.subject, /changed its owner/);
  assert.equal(others.length, 1, "the claim alone");
  assert.equal(accepted(await follow(relay, mail!), 200).verified_email, OWNER);
  const named = { org_id: holder.orgId };
  const { org_id } = accepted(await follow(relay, await magicLink(relay, OWNER, named)), 200);
  assert.equal(org_id, holder.orgId);
});

Deno.test("a restore link works for 7 days, and for no org that is gone", async () => {
  await using relay = await startMailRelay();
  const [one, two, three] = [await ownedOrg(relay), await ownedOrg(relay), await ownedOrg(relay)];
  const links = [];
  for (const holder of [one, two, three]) {
    await takeOver(relay, holder.key, THIEF);
    links.push(await newestLink(relay, OWNER));
  }
  const [first, second, third] = links;
  accepted(await three.deleteOrg(), 204);
  assertMailRefused(await follow(relay, third!), "link_expired");
  relay.clock.advance(7 * DAY_MS - 10_000);
  accepted(await follow(relay, second!), 200);
  relay.clock.advance(10_000);
  assertMailRefused(await follow(relay, first!), "link_expired");
  assert.equal(accepted(await one.readOrg(), 200).verified_email, THIEF);
});

Deno.test("a trial that is claimed has no former owner to tell", async () => {
  await using relay = await startMailRelay();
  await ownedOrg(relay);
  const { data } = (await askMail(relay.url, "GET", "/dev/mail")).body;
  assert.equal(data.length, 1);
});

Deno.test("the page of a sign-in tells of other keys, and its button deletes them all", async () => {
  await using relay = await startMailRelay();
  const holder = await ownedOrg(relay);
  await holder.newKey({ name: "second" });
  const mail = await magicLink(relay, OWNER);
  const asked = await askMail(relay.url, "GET", mail.path, { headers: BROWSER });
  assert.match(asked.body, /<button class="primary">Open this org<\/button>/);
  assert.doesNotMatch(asked.body, /rm_sk_/);
  const form = { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" };
  const press = (fields: Record<string, string>) =>
    askMail(relay.url, "POST", "/v1/mail/org/magic/confirm", {
      body: new URLSearchParams(fields).toString(),
      headers: form,
    });
  const page = await press({ token: mail.token, org_id: holder.orgId });
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("access-control-allow-origin"), null);
  assert.match(
    page.headers.get("content-security-policy")!,
    /form-action 'self'; .*frame-ancestors 'none'/,
  );
  assert.match(page.body, /2 other keys open this org/);
  const apiKey = /rm_sk_[A-Za-z0-9_-]{43}/.exec(page.body)![0];
  const action = "delete_other_keys";
  for (const key of ["", "x", `rm_sk_${"a".repeat(43)}`, holder.key]) {
    assertMailRefused(await press({ action, api_key: key }), "unknown_key");
  }
  accepted(await holder.readOrg(), 200);
  const deleted = await press({ action, api_key: apiKey });
  assert.match(deleted.body, /2 keys are deleted/);
  assertMailRefused(await holder.readOrg(), "unknown_key");
  accepted(await holder.with(apiKey).readOrg(), 200);
  const program = await askMail(relay.url, "POST", "/v1/mail/org/magic/confirm", {
    body: { action, api_key: apiKey },
  });
  assert.deepEqual([program.status, program.body], [200, { deleted: 0, google_email: null }]);
});
