/** Signing in by a link in a mail, in local mode. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, MailKeyHolder, newOrg } from "../../support/mail_caller.ts";
import {
  askForLink,
  BROWSER,
  claimLink,
  follow,
  MAGIC_CONFIRM,
  magicLink,
  newestLink,
} from "../../support/mail_links.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { listRows } from "../../support/store_rows.ts";

const EMAIL = "owner@example.org";
const HOUR_MS = 3_600_000;

Deno.test("a sign-in link makes a verified org for a new address, and opens it the next time", async () => {
  await using relay = await startMailRelay();
  const asked = await askForLink(relay, "Owner@EXAMPLE.org");
  assert.deepEqual([asked.status, asked.body], [202, { sent: true }]);
  const mail = await newestLink(relay, EMAIL);
  assert.equal(mail.subject, `Sign in to ${new URL(relay.url).host}`);
  assert.match(mail.text, /asked to sign in to the mail of http:\/\/127\.0\.0\.1:\d+\./);
  assert.match(mail.text, /Somebody at 127\.0\.0\.1 /);
  assert.match(mail.token, /^[0-9A-HJKMNP-TV-Z]{26}\.[A-Za-z0-9_-]{43}$/);

  const answer = await follow(relay, mail);
  const first = accepted(answer, 200);
  assert.deepEqual(Object.keys(first), [
    "org_id",
    "api_key",
    "key_prefix",
    "verified_email",
    "other_orgs",
  ]);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  assert.deepEqual([first.verified_email, first.other_orgs], [EMAIL, []]);
  assert.equal(first.key_prefix, first.api_key.slice(0, 12));
  const holder = new MailKeyHolder(relay.url, first.api_key, first.org_id);
  const org = accepted(await holder.readOrg(), 200);
  assert.deepEqual(
    [org.org_id, org.trial, org.expires_at, org.verified_email, org.inboxes.limit],
    [first.org_id, false, null, EMAIL, 10],
  );
  const keys = accepted(await holder.ask("GET", "/v1/mail/api-keys"), 200).data;
  const today = new Date(relay.clock.now()).toISOString().slice(0, 10);
  assert.deepEqual(
    keys.map(({ name, scope, permissions, expires_at }: Record<string, unknown>) => [
      name,
      scope,
      permissions,
      expires_at,
    ]),
    [[`magic ${today}`, "org", ["inbox:read", "inbox:write"], null]],
  );

  const second = accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  assert.equal(second.org_id, first.org_id);
  assert.notEqual(second.api_key, first.api_key);
  accepted(await holder.readOrg(), 200);
});

Deno.test("unknown, malformed, missing, used, expired and foreign tokens are 410 alike", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const used = await magicLink(relay, EMAIL);
  accepted(await follow(relay, used), 200);
  const expired = await magicLink(relay, EMAIL);
  const claim = await claimLink(relay, holder.key, "claimer@example.org");
  relay.clock.advance(HOUR_MS);
  const live = await magicLink(relay, EMAIL);
  const [id, mac] = live.token.split(".") as [string, string];
  const other = mac.startsWith("A") ? "B" : "A";
  const tokens: (string | null)[] = [
    null,
    "",
    "x",
    ".",
    id,
    `${id}.`,
    `${id}.${mac.slice(0, -1)}`,
    `${id}.${mac}A`,
    `${id}.${mac}=`,
    `${id}.${other}${mac.slice(1)}`,
    `${used.token.split(".")[0]}.${mac}`,
    `${id.toLowerCase()}.${mac}`,
    "0".repeat(26) + "." + "A".repeat(43),
    "\u0000",
    "x".repeat(5_000),
    used.token,
    expired.token,
    claim.token,
  ];
  const told = new Set<string>();
  for (const token of tokens) {
    const query = token === null ? "" : `?token=${encodeURIComponent(token)}`;
    const answers = [
      await askMail(relay.url, "GET", MAGIC_CONFIRM + query),
      await askMail(relay.url, "POST", MAGIC_CONFIRM, { body: token === null ? {} : { token } }),
      await askMail(relay.url, "POST", MAGIC_CONFIRM, {
        body: token === null ? "" : new URLSearchParams({ token }).toString(),
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
      }),
    ];
    for (const answer of answers) {
      assertMailRefused(answer, "link_expired");
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
      told.add(JSON.stringify(answer.body));
    }
    for (const method of ["GET", "POST"]) {
      const page = await askMail(relay.url, method, MAGIC_CONFIRM + query, {
        headers: BROWSER,
        ...(method === "POST" ? { body: { token } } : {}),
      });
      assert.equal(page.status, 410);
      assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
      told.add(page.body);
    }
  }
  assert.equal(told.size, 2, "one JSON answer and one page for all");
  const twice = `${MAGIC_CONFIRM}?token=${live.token}&token=${live.token}`;
  assertMailRefused(await askMail(relay.url, "GET", twice), "link_expired");
  accepted(await follow(relay, live), 200);
});

Deno.test("a sign-in link works to the last millisecond of its hour", async () => {
  await using relay = await startMailRelay();
  const last = await magicLink(relay, EMAIL);
  relay.clock.advance(HOUR_MS - 1);
  accepted(await follow(relay, last), 200);
  const late = await magicLink(relay, EMAIL);
  relay.clock.advance(HOUR_MS);
  assertMailRefused(await follow(relay, late), "link_expired");
});

Deno.test("an org that was only claimed opens for who names it; unasked a new one does, and names them", async () => {
  await using relay = await startMailRelay();
  const claimed: string[] = [];
  for (let i = 0; i < 3; i++) {
    const holder = await newOrg(relay);
    accepted(await follow(relay, await claimLink(relay, holder.key, EMAIL)), 200);
    claimed.push(holder.orgId);
    relay.clock.advance(1_000);
  }
  const stranger = await newOrg(relay);
  const [first, second, third] = claimed as [string, string, string];
  const signIn = async (orgId?: unknown) => {
    relay.clock.advance(HOUR_MS);
    const more = orgId === undefined ? {} : { org_id: orgId };
    const { org_id, other_orgs } = accepted(
      await follow(relay, await magicLink(relay, EMAIL, more)),
      200,
    );
    return [org_id, ...other_orgs];
  };
  // Named: it is the one that was signed in to first from now on.
  assert.deepEqual(await signIn(second), [second, first, third]);
  for (const none of [undefined, null, "", "org_x", "new", stranger.orgId]) {
    assert.deepEqual(await signIn(none), [second, first, third], String(none));
  }
  assert.deepEqual(await signIn(first), [first, second, third]);
  assert.deepEqual(await signIn(), [second, first, third]);
  // An org that is gone does not open any more, and is not named any more.
  for (const orgId of [second, first]) {
    relay.clock.advance(HOUR_MS);
    const link = await magicLink(relay, EMAIL, { org_id: orgId });
    const key = accepted(await follow(relay, link), 200).api_key;
    accepted(await new MailKeyHolder(relay.url, key, orgId).deleteOrg(), 204);
  }
  const [made, ...others] = await signIn();
  assert.ok(![first, second, third].includes(made));
  assert.deepEqual(others, [third]);
  assert.deepEqual(await signIn(), [made, third]);
  assert.deepEqual(await signIn(second), [made, third]);
});

Deno.test("the page of a sign-in asks which org, where the address was only claimed", async () => {
  await using relay = await startMailRelay();
  const [one, two] = [await newOrg(relay), await newOrg(relay)];
  const form = { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" };
  const press = (fields: Record<string, string>) =>
    askMail(relay.url, "POST", MAGIC_CONFIRM, {
      body: new URLSearchParams(fields).toString(),
      headers: form,
    });
  for (const holder of [one, two]) {
    accepted(await follow(relay, await claimLink(relay, holder.key, EMAIL)), 200);
  }
  const { path, token } = await magicLink(relay, EMAIL);
  const asked = await askMail(relay.url, "GET", path, { headers: BROWSER });
  assert.match(asked.body, /Which mail org\?/);
  for (const holder of [one, two]) assert.ok(asked.body.includes(`value="${holder.orgId}"`));
  const opened = await press({ token, org_id: two.orgId });
  assert.match(opened.body, RegExp(`owner of the mail org <code>${two.orgId}`));
  relay.clock.advance(HOUR_MS);
  // The one who asked for the link named an org that the reader never chose.
  const named = await magicLink(relay, EMAIL, { org_id: one.orgId });
  const page = await askMail(relay.url, "GET", named.path, { headers: BROWSER });
  assert.match(page.body, /Which mail org\?/);
  assert.match(page.body, /Open my own org/);
  const own = await press({ token: named.token, org_id: "new" });
  assert.match(own.body, RegExp(`owner of the mail org <code>${two.orgId}`));
  const plain = await magicLink(relay, EMAIL);
  const simple = await askMail(relay.url, "GET", plain.path, { headers: BROWSER });
  assert.doesNotMatch(simple.body, /Which mail org/);
});

Deno.test("a sign-in link of a suspended org mints nothing, and is not spent", async () => {
  const adminToken = "admin-token-of-thirty-two-characters";
  await using relay = await startMailRelay({ config: { adminToken } });
  const { org_id, api_key } = accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  const suspend = (what: string) =>
    askMail(relay.url, "POST", `/v1/admin/mail/orgs/${org_id}/${what}`, { key: adminToken });
  const link = await magicLink(relay, EMAIL);
  accepted(await suspend("suspend"), 200);
  assertMailRefused(await follow(relay, link), "org_suspended");
  assertMailRefused(
    await askMail(relay.url, "POST", MAGIC_CONFIRM, { body: { token: link.token } }),
    "org_suspended",
  );
  const page = await askMail(relay.url, "POST", MAGIC_CONFIRM, {
    headers: BROWSER,
    body: { token: link.token },
  });
  assert.equal(page.status, 403);
  assert.match(page.body, /This org is suspended/);
  for (const action of ["delete_other_keys", "unlink_google"]) {
    const body = { action, api_key };
    assertMailRefused(
      await askMail(relay.url, "POST", MAGIC_CONFIRM, { body }),
      "org_suspended",
    );
  }
  accepted(await suspend("unsuspend"), 200);
  accepted(await follow(relay, link), 200);
  const holder = new MailKeyHolder(relay.url, api_key, org_id);
  const { data } = accepted(await holder.ask("GET", "/v1/mail/api-keys"), 200);
  assert.equal(data.length, 2);
});

Deno.test("an org that a sign-in made comes before one that was claimed earlier", async () => {
  await using relay = await startMailRelay({ limits: { mailMagicPerEmailPerHour: 10 } });
  const made = accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  const holder = await newOrg(relay);
  accepted(await follow(relay, await claimLink(relay, holder.key, EMAIL)), 200);
  const other = await newOrg(relay);
  // Claimed first, but the sign-in's org counts: of all, the one of the sign-in opens.
  accepted(await follow(relay, await claimLink(relay, other.key, EMAIL)), 200);
  const { org_id, other_orgs } = accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  assert.equal(org_id, made.org_id);
  assert.deepEqual(other_orgs.toSorted(), [holder.orgId, other.orgId].toSorted());
});

Deno.test("ten sign-in keys stand, the least recently used makes room, and other keys never do", async () => {
  await using relay = await startMailRelay({ limits: { mailMagicPerEmailPerHour: 1_000 } });
  const signIn = async () => {
    relay.clock.advance(1_000);
    return accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  };
  const first = await signIn();
  const holder = new MailKeyHolder(relay.url, first.api_key, first.org_id);
  const own = await holder.newKey({ name: "agent" });
  const keys = [first.api_key];
  for (let i = 1; i < 10; i++) keys.push((await signIn()).api_key);
  relay.clock.advance(1_000);
  // The oldest is used: the second one is now the least recently used.
  accepted(await holder.readOrg(), 200);
  relay.clock.advance(1_000);
  keys.push((await signIn()).api_key);
  assertMailRefused(await holder.with(keys[1]!).readOrg(), "unknown_key");
  for (const key of [own.api_key, keys[0]!, ...keys.slice(2)]) {
    accepted(await holder.with(key).readOrg(), 200);
  }
  const { data } = accepted(await holder.ask("GET", "/v1/mail/api-keys"), 200);
  assert.equal(data.length, 11);
});

Deno.test("an org_id that no org can have is stored nowhere, whatever its length: the default org opens", async () => {
  using kv = await openMemoryKv();
  await using relay = await startMailRelay({ deps: { kv } });
  const org_id = "x".repeat(100_000);
  const link = await magicLink(relay, "ada@example.org", { org_id });
  const rows = await listRows(kv);
  assert.ok(rows.length > 0);
  assert.deepEqual(rows.filter((row) => row.includes("xxxxxxxx")), []);
  const { status, body } = await follow(relay, link);
  assert.deepEqual([status, body.verified_email], [200, "ada@example.org"]);
});
