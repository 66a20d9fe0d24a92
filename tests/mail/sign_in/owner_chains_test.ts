/** Owners, thieves and those between them: who has the org in the end, and which links still work. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, MailKeyHolder } from "../../support/mail_caller.ts";
import {
  BROWSER,
  claimLink,
  follow,
  linkMails,
  MAGIC_CONFIRM,
  magicLink,
  newestLink,
} from "../../support/mail_links.ts";
import { startGoogleIssuer, startGoogleRelay } from "../../support/google_issuer.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import { attach, signedIn, unlink } from "./google_calls.ts";

const OWNER = "owner@example.org";
const THIEF = "thief@example.org";
const SECOND_THIEF = "thief2@example.org";
const DAY_MS = 86_400_000;
const LIMITS = { mailClaimsPerOrgPerHour: 100, mailMagicPerEmailPerHour: 100 };

/** An org of OWNER that was made by signing in, and its key. */
async function ownedOrg(relay: TestRelay): Promise<MailKeyHolder> {
  const { org_id, api_key } = accepted(await follow(relay, await magicLink(relay, OWNER)), 200);
  relay.clock.advance(1_000);
  return new MailKeyHolder(relay.url, api_key, org_id);
}

/** Names another owner with a key of the org. */
async function claimFor(relay: TestRelay, key: string, email: string) {
  relay.clock.advance(1_000);
  const org = accepted(await follow(relay, await claimLink(relay, key, email)), 200);
  assert.equal(org.verified_email, email);
  relay.clock.advance(1_000);
  return org;
}

/** What was mailed to an address about changes of owner, the newest first: the texts. */
async function told(relay: TestRelay, email: string): Promise<string[]> {
  await relay.relay.crons.outgoing!();
  const { data } = (await askMail(relay.url, "GET", "/dev/mail")).body;
  const texts: string[] = [];
  for (const { n, subject, envelope } of data) {
    if (envelope.to[0] !== email || !/changed its owner/.test(subject)) continue;
    texts.push((await askMail(relay.url, "GET", `/dev/mail/${n}`)).body.text);
  }
  return texts;
}

const restoreLinks = async (relay: TestRelay, email: string) =>
  (await linkMails(relay, email)).filter(({ subject }) => /changed its owner/.test(subject));

Deno.test("an owner who claims an org back leaves the thief no link, no key and no claim", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await ownedOrg(relay);
  await claimFor(relay, owner.key, THIEF);
  const thief = accepted(
    await follow(relay, await magicLink(relay, THIEF, { org_id: owner.orgId })),
    200,
  );
  relay.clock.advance(DAY_MS);
  await claimFor(relay, owner.key, OWNER);

  const [notice, ...more] = await told(relay, THIEF);
  assert.deepEqual(more, []);
  assert.match(notice!, RegExp(`The owner of the mail org ${owner.orgId} at `));
  assert.doesNotMatch(notice!, /token=|owner@|confirm/);
  assert.deepEqual(await restoreLinks(relay, THIEF), []);
  assertMailRefused(await owner.with(thief.api_key).readOrg(), "unknown_key");
  accepted(await owner.readOrg(), 200);
  assert.notEqual(
    accepted(await follow(relay, await magicLink(relay, THIEF)), 200).org_id,
    owner.orgId,
  );
  // The owner's own link is used up by it: what it undid is undone.
  const [own] = await restoreLinks(relay, OWNER);
  assertMailRefused(await follow(relay, own!), "link_expired");
});

Deno.test("an owner who comes after several thieves ends the links of all", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await ownedOrg(relay);
  await claimFor(relay, owner.key, THIEF);
  await claimFor(relay, owner.key, SECOND_THIEF);
  const [thiefs] = await restoreLinks(relay, THIEF);
  assert.ok(thiefs !== undefined);
  await claimFor(relay, owner.key, OWNER);
  assertMailRefused(await follow(relay, thiefs), "link_expired");
  assert.equal((await told(relay, SECOND_THIEF)).length, 1);
  assert.deepEqual(await restoreLinks(relay, SECOND_THIEF), []);
  assert.equal(accepted(await owner.readOrg(), 200).verified_email, OWNER);
});

Deno.test("a thief who is a former owner too ends no link of those before", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await ownedOrg(relay);
  await claimFor(relay, owner.key, THIEF);
  await claimFor(relay, owner.key, SECOND_THIEF);
  await claimFor(relay, owner.key, THIEF);
  assert.deepEqual(await restoreLinks(relay, SECOND_THIEF), []);
  const [own] = await restoreLinks(relay, OWNER);
  assert.equal(accepted(await follow(relay, own!), 200).verified_email, OWNER);
  assert.equal((await told(relay, THIEF)).length, 2, "displaced twice, told twice");
  for (const link of await restoreLinks(relay, THIEF)) {
    assertMailRefused(await follow(relay, link), "link_expired");
  }
});

Deno.test("an owner who moved to another address gets that one back, and the former one keeps its link", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await ownedOrg(relay);
  await claimFor(relay, owner.key, "new@example.org");
  await claimFor(relay, owner.key, THIEF);
  await claimFor(relay, owner.key, "new@example.org");
  assert.deepEqual(await restoreLinks(relay, THIEF), []);
  const [former] = await restoreLinks(relay, OWNER);
  assert.equal(accepted(await follow(relay, former!), 200).verified_email, OWNER);
});

Deno.test("a former owner who signs in and names the org takes it back, by page and by program", async () => {
  for (const asPage of [true, false]) {
    await using relay = await startMailRelay({ limits: LIMITS });
    const owner = await ownedOrg(relay);
    await claimFor(relay, owner.key, THIEF);
    // The thief leaves the owner no key to claim it with.
    const link = await magicLink(relay, THIEF, { org_id: owner.orgId });
    const thief = accepted(await follow(relay, link), 200);
    const body = { action: "delete_other_keys", api_key: thief.api_key };
    accepted(await askMail(relay.url, "POST", MAGIC_CONFIRM, { body }), 200);
    assertMailRefused(await owner.readOrg(), "unknown_key");

    const mail = await magicLink(relay, OWNER, { org_id: owner.orgId });
    const page = await askMail(relay.url, "GET", mail.path, { headers: BROWSER });
    assert.match(page.body, /Take it back and sign in/);
    let key: string;
    if (asPage) {
      const pressed = await askMail(relay.url, "POST", MAGIC_CONFIRM, {
        headers: { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ token: mail.token, org_id: owner.orgId }).toString(),
      });
      assert.match(pressed.body, RegExp(`owner of the mail org <code>${owner.orgId}`));
      key = /rm_sk_[A-Za-z0-9_-]{43}/.exec(pressed.body)![0];
    } else key = accepted(await follow(relay, mail), 200).api_key;
    const org = accepted(await owner.with(key).readOrg(), 200);
    assert.deepEqual([org.org_id, org.verified_email], [owner.orgId, OWNER]);
    assertMailRefused(await owner.with(thief.api_key).readOrg(), "unknown_key");
    assert.equal((await told(relay, THIEF)).length, 1);
    assert.deepEqual(await restoreLinks(relay, THIEF), []);
    assertMailRefused(await follow(relay, mail), "link_expired");
    // Without the name a sign-in takes nothing back.
    await claimFor(relay, key, THIEF);
    const other = accepted(await follow(relay, await magicLink(relay, OWNER)), 200);
    assert.notEqual(other.org_id, owner.orgId);
  }
});

Deno.test("an identity that its owner attaches again undoes what a thief did, and mails the thief no link", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer, { limits: LIMITS });
  const own = () => issuer.token(relay.clock.now(), { sub: "ada", email: "ada@example.org" });
  const { org_id, api_key } = await signedIn(relay, await own());
  relay.clock.advance(1_000);
  await claimFor(relay, api_key, THIEF);
  assert.equal((await unlink(relay, api_key)).status, 204);
  const stranger = await issuer.token(relay.clock.now(), { sub: "eve", email: "eve@example.org" });
  assert.equal((await attach(relay, api_key, stranger)).status, 200);
  relay.clock.advance(1_000);
  const [thiefs] = await restoreLinks(relay, THIEF);
  assert.ok(thiefs !== undefined, "attaching mailed the present owner a link");
  assert.equal((await unlink(relay, api_key)).status, 204);

  const attached = await attach(relay, api_key, await own());
  assert.deepEqual(
    [attached.status, attached.body.verified_email, attached.body.google_email],
    [200, "ada@example.org", "ada@example.org"],
  );
  assertMailRefused(await follow(relay, thiefs), "link_expired");
  assert.deepEqual(await restoreLinks(relay, THIEF), [thiefs]);
  assert.equal((await told(relay, THIEF)).length, 2);
  relay.clock.advance(1_000);
  assert.equal((await signedIn(relay, await own())).org_id, org_id);
});

Deno.test("whoever loses an org beyond the number that is kept is told without a link", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await ownedOrg(relay);
  for (let i = 0; i < 13; i++) await claimFor(relay, owner.key, `thief${i}@example.org`);
  for (let i = 0; i < 12; i++) {
    const email = `thief${i}@example.org`;
    const texts = await told(relay, email);
    assert.equal(texts.length, 1, email);
    // The owner's is the first of ten.
    assert.equal(/token=/.test(texts[0]!), i < 9, email);
  }
  await claimFor(relay, owner.key, OWNER);
  for (let i = 0; i < 9; i++) {
    const link = await newestLink(relay, `thief${i}@example.org`);
    if (/changed/.test(link.subject)) {
      assertMailRefused(await follow(relay, link), "link_expired");
    }
  }
});

Deno.test("after 7 days a claim back is a change like any other", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await ownedOrg(relay);
  await claimFor(relay, owner.key, "buyer@example.org");
  relay.clock.advance(7 * DAY_MS);
  await claimFor(relay, owner.key, OWNER);
  const [link] = await restoreLinks(relay, "buyer@example.org");
  assert.equal(accepted(await follow(relay, link!), 200).verified_email, "buyer@example.org");
});

Deno.test("shutting everybody else out ends links of those between, not that of the oldest owner", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await ownedOrg(relay);
  await claimFor(relay, owner.key, THIEF);
  await claimFor(relay, owner.key, "owner2@example.org");
  const [own] = await restoreLinks(relay, OWNER);
  const [thiefs] = await restoreLinks(relay, THIEF);
  const mail = await magicLink(relay, "owner2@example.org", { org_id: owner.orgId });
  const pressed = await askMail(relay.url, "POST", MAGIC_CONFIRM, {
    headers: { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ token: mail.token, org_id: owner.orgId }).toString(),
  });
  assert.match(pressed.body, /Deleting them also ends the link/);
  const api_key = /rm_sk_[A-Za-z0-9_-]{43}/.exec(pressed.body)![0];
  const body = { action: "delete_other_keys", api_key };
  const { deleted } = accepted(await askMail(relay.url, "POST", MAGIC_CONFIRM, { body }), 200);
  assert.equal(deleted, 1);
  assertMailRefused(await follow(relay, thiefs!), "link_expired");
  assert.equal(
    accepted(await owner.with(api_key).readOrg(), 200).verified_email,
    "owner2@example.org",
  );
  // A thief may press it too, and the first owner's way back stays.
  assert.equal(accepted(await follow(relay, own!), 200).verified_email, OWNER);
});

Deno.test("shutting everybody else out names a Google account that stays, and unlinks it at a press", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer, { limits: LIMITS });
  const owner = await ownedOrg(relay);
  const eve = () => issuer.token(relay.clock.now(), { sub: "eve", email: "eve@example.com" });
  assert.equal((await attach(relay, owner.key, await eve())).status, 200);
  relay.clock.advance(1_000);
  const press = async (fields: Record<string, string>): Promise<string> => {
    const answer = await askMail(relay.url, "POST", MAGIC_CONFIRM, {
      headers: { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
    return accepted(answer, 200);
  };
  const signedInPage = await press({ token: (await magicLink(relay, OWNER)).token });
  const api_key = /rm_sk_[A-Za-z0-9_-]{43}/.exec(signedInPage)![0];
  const deletedPage = await press({ action: "delete_other_keys", api_key });
  for (const page of [signedInPage, deletedPage]) {
    assert.match(page, /The Google account <b>eve@example.com<\/b> is linked/);
    assert.match(page, /Unlink the Google account/);
  }
  const body = { action: "delete_other_keys", api_key };
  const { google_email } = accepted(
    await askMail(relay.url, "POST", MAGIC_CONFIRM, { body }),
    200,
  );
  assert.equal(google_email, "eve@example.com");
  assertMailRefused(
    await askMail(relay.url, "POST", MAGIC_CONFIRM, {
      body: { action: "unlink_google", api_key: owner.key },
    }),
    "unknown_key",
  );
  const unlinkedPage = await press({ action: "unlink_google", api_key });
  assert.match(unlinkedPage, /account is unlinked/);
  assert.match(unlinkedPage, /value="delete_other_keys"/, "for keys that the account was given");
  assert.equal(accepted(await owner.with(api_key).readOrg(), 200).google_email, null);
  relay.clock.advance(1_000);
  assert.notEqual((await signedIn(relay, await eve())).org_id, owner.orgId);
});
