/** What each field of API keys and registrations takes and refuses (docs/mail.md, "Keys"). */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { askMail, signRegistration, startMailRelay } from "../../support/mail_relay.ts";
import { CONTROLS, refuseEach, WRONG_STRINGS } from "../../support/refused_fields.ts";

Deno.test("key fields: what creation refuses, each by name", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const inbox = await owner.inbox();
  const atMs = (offsetMs: number) => new Date(relay.clock.now() + offsetMs).toISOString();
  const each = (field: string, values: readonly unknown[], others: object = { name: "k" }) =>
    refuseEach(field, values, (value) => owner.createKey({ ...others, [field]: value }));
  await each("name", [null, "", "  ", ...WRONG_STRINGS, ...CONTROLS, "x".repeat(101)]);
  await each("scope", [...WRONG_STRINGS, "", "Org", "inboxes"]);
  await each("inbox_id", [inbox.id, inbox.address, "", 1]);
  await each("inbox_id", [null, "", 1, [], "ibx_1", "bob"], { name: "k", scope: "inbox" });
  await each("permissions", ["inbox:read", [], [1], ["inbox:send"], ["inbox:read", null], {}]);
  const fiveYearsOn = 5 * 366 * 86_400_000;
  await each("expires_at", [
    1,
    "",
    "2027-01-01",
    "2027-02-30T00:00:00Z",
    "2027-01-01T00:00:00",
    relay.clock.now() + 1000,
    atMs(0),
    atMs(-1),
    atMs(fiveYearsOn + 1),
  ]);
  assert.equal(accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200).data.length, 1);
});

Deno.test("key fields: what creation takes at its edges, and how it shows it", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const inbox = await owner.inbox();
  const made = await owner.newKey({
    name: ` ${"😀".repeat(100)} `,
    scope: "inbox",
    inbox_id: inbox.address.toUpperCase(),
    permissions: ["inbox:write", "inbox:read", "inbox:write"],
    expires_at: "2026-06-01T14:00:00.5+01:00",
    unknown: 1,
  });
  const { id, api_key, ...rest } = made;
  assert.match(id, /^key_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.match(api_key, /^rm_sk_[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(rest, {
    name: "😀".repeat(100),
    prefix: api_key.slice(0, 12),
    scope: "inbox",
    inbox_id: inbox.id,
    permissions: ["inbox:read", "inbox:write"],
    created_at: new Date(relay.clock.now()).toISOString(),
    expires_at: "2026-06-01T13:00:00.500Z",
    last_used_at: null,
  });
  const shown = accepted(await owner.ask("GET", `/v1/mail/api-keys/${id}`), 200);
  assert.deepEqual(shown, { id, ...rest });
  const nulls = { name: "k", scope: null, inbox_id: null, permissions: null, expires_at: null };
  const plain = await owner.newKey(nulls);
  assert.deepEqual(
    [plain.scope, plain.inbox_id, plain.permissions, plain.expires_at],
    ["org", null, ["inbox:read", "inbox:write"], null],
  );
});

Deno.test("registration fields: wrong types are 400, each by name", async () => {
  await using relay = await startMailRelay();
  const good = signRegistration(relay.clock.now());
  const each = (field: string, values: readonly unknown[]) =>
    refuseEach(
      field,
      values,
      (value) =>
        askMail(relay.url, "POST", "/v1/mail/agents/register", {
          body: { ...good, [field]: value },
        }),
    );
  await each("public_key", [undefined, null, ...WRONG_STRINGS]);
  await each("timestamp", [undefined, null, "1", String(good.timestamp), 1.5, true, [], {}]);
  await each("signature", [undefined, null, ...WRONG_STRINGS]);
  await each("label", [...WRONG_STRINGS, ...CONTROLS, "x".repeat(101)]);
});

Deno.test("registration: keys that are no canonical points are invalid_pubkey", async () => {
  await using relay = await startMailRelay();
  const good = signRegistration(relay.clock.now());
  const bad = [
    "",
    "0OIl",
    "1".repeat(32),
    "1".repeat(45),
    "11111111111111111111111111111112",
    `${good.public_key} `,
    "z".repeat(44),
    "x".repeat(100_000),
  ];
  for (const public_key of bad) {
    const answer = await askMail(relay.url, "POST", "/v1/mail/agents/register", {
      body: { ...good, public_key },
    });
    assertMailRefused(answer, "invalid_pubkey");
  }
});

Deno.test("a label names the first key, trimmed; an empty one is as none", async () => {
  await using relay = await startMailRelay();
  for (const [label, name] of [["  a b ", "a b"], ["", "registration"], [null, "registration"]]) {
    const body = { ...signRegistration(relay.clock.now()), label };
    const { api_key, org_id } = accepted(
      await askMail(relay.url, "POST", "/v1/mail/agents/register", { body }),
      201,
    );
    const keys = await askMail(relay.url, "GET", "/v1/mail/api-keys", { key: api_key });
    assert.equal(accepted(keys, 200).data[0].name, name);
    assert.ok(org_id);
  }
});
