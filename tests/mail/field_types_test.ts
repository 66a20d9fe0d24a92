/** What each field of mail requests takes and refuses, field by field (mail page, "Keys", "Inboxes"). */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, newOrg } from "../support/mail_caller.ts";
import { askMail, signRegistration, startMailRelay } from "../support/mail_relay.ts";

const WRONG_STRINGS: unknown[] = [1, true, {}, [], ["a"]];
const CONTROLS = ["a\nb", "a\u0000b", "a\u202eb", "a\u2028b", "\u007f", "a\u0085b"];

/** Each is refused with the field's name in the message. */
async function refuseEach(
  field: string,
  values: readonly unknown[],
  ask: (value: unknown) => ReturnType<typeof askMail>,
): Promise<void> {
  for (const value of values) {
    const answer = await ask(value);
    const told = `${field} ${JSON.stringify(value)}`;
    assert.equal(answer.body?.error?.code, "invalid_json", told);
    assert.ok(answer.body.error.message.includes(field), `${told}: ${answer.body.error.message}`);
  }
}

/** Values that a list of addresses refuses, and what it makes of good ones. */
const BAD_LISTS: unknown[] = [
  "a@b.org",
  1,
  {},
  [1],
  [null],
  [""],
  ["*"],
  ["*."],
  ["*.*.org"],
  ["@b.org"],
  ["a@"],
  ["a@b"],
  ["org"],
  ["a b@b.org"],
  ["a@b@c.org"],
  ["Name <a@b.org>"],
  ['"a"@b.org'],
  ["a@[127.0.0.1]"],
  ["a..b@b.org"],
  [".a@b.org"],
  ["a@-b.org"],
  ["a@b_c.org"],
  ["bücher@b.org"],
  ["a@bücher.org"],
  [`${"a".repeat(65)}@b.org`],
  [`a@${"b".repeat(64)}.org`],
  [`${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(20)}`],
  Array.from({ length: 101 }, (_, i) => `a${i}@b.org`),
];

Deno.test("inbox fields: what creation refuses, each by name", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const each = (field: string, values: readonly unknown[]) =>
    refuseEach(field, values, (value) => owner.createInbox({ [field]: value }));
  await each("local_part", [
    ...WRONG_STRINGS,
    "",
    " bob",
    "bob ",
    ".bob",
    "bob.",
    "-bob",
    "bob-",
    "_bob",
    "b..b",
    "b+b",
    "b@b",
    "bob@agents.test",
    "böb",
    "K\u212a",
    "a".repeat(65),
    "a\n",
  ]);
  await each("display_name", [...WRONG_STRINGS, ...CONTROLS, "x".repeat(101), "😀".repeat(101)]);
  await each("send_policy", [...WRONG_STRINGS, "", "Direct", "draft"]);
  await each("retention_days", ["1", 0, -1, 1.5, 3651, true, [], {}]);
  await each("client_id", [...WRONG_STRINGS, "", "a b", "ä", "a".repeat(65), "a/b", "a.b"]);
  for (const list of ["allow_send", "allow_receive", "block_receive"]) await each(list, BAD_LISTS);
  assert.deepEqual(accepted(await owner.ask("GET", "/v1/mail/inboxes"), 200).data, []);
});

Deno.test("inbox fields: what creation takes at its edges, and how it stores it", async () => {
  await using relay = await startMailRelay({ limits: { mailInboxesPerTrial: 100 } });
  const owner = await newOrg(relay);
  const nowText = new Date(relay.clock.now()).toISOString();
  const plain = await owner.inbox({ unknown: [1], local_part: null, display_name: null });
  assert.match(plain.address, /^[a-z]+-[a-z]+-[0-9]{4}@agents\.test$/);
  const { id, address: _, ...rest } = plain;
  assert.match(id, /^ibx_[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.deepEqual(rest, {
    org_id: owner.orgId,
    display_name: null,
    status: "active",
    retention_days: null,
    send_policy: "direct",
    allow_send: [],
    allow_receive: [],
    block_receive: [],
    unread_count: 0,
    created_at: nowText,
    updated_at: nowText,
  });
  for (const localPart of ["a", "0", "a.b-c_d", "A".repeat(64), `a${"-".repeat(62)}z`, "a__b"]) {
    const { address } = await owner.inbox({ local_part: localPart });
    assert.equal(address, `${localPart.toLowerCase()}@agents.test`);
  }
  const full = await owner.inbox({
    display_name: `  ${"😀".repeat(100)} `,
    send_policy: "draft_only",
    retention_days: 3650,
    allow_send: ["A@B.org", "a@b.org", "*.Example.org", "x.org", "o'b+c=d@b.org"],
    block_receive: Array.from({ length: 200 }, (_, i) => `a${i % 100}@b.org`),
    allow_receive: null,
    client_id: "Az09_-".padEnd(64, "x"),
  });
  assert.equal(full.display_name, "😀".repeat(100));
  assert.deepEqual([full.send_policy, full.retention_days], ["draft_only", 3650]);
  assert.deepEqual(full.allow_send, ["a@b.org", "*.example.org", "x.org", "o'b+c=d@b.org"]);
  assert.equal(full.block_receive.length, 100);
  assert.deepEqual(accepted(await owner.ask("GET", `/v1/mail/inboxes/${full.id}`), 200), full);
  assert.equal((await owner.inbox({ display_name: "  " })).display_name, null);
  assert.equal((await owner.inbox({ retention_days: 1 })).retention_days, 1);
});

Deno.test("three lists of a hundred of the longest entries each are stored and shown whole", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const domain = `${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(57)}`;
  const longest = Array.from(
    { length: 100 },
    (_, i) => `${String(i).padStart(3, "0")}${"a".repeat(61)}@${domain}.x`,
  );
  assert.ok(longest[0]!.length >= 252 && longest[0]!.length <= 254);
  const lists = { allow_send: longest, allow_receive: longest, block_receive: longest };
  const made = await owner.inbox(lists);
  const shown = accepted(await owner.ask("GET", `/v1/mail/inboxes/${made.id}`), 200);
  for (const name of Object.keys(lists)) assert.deepEqual(shown[name], longest);
});

Deno.test("reserved local parts are 403 in every spelling: dots, hyphens, underscores, case", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  // RFC 2142 and the mail page, by hand.
  const reserved =
    ("info marketing sales support abuse noc security postmaster hostmaster usenet " +
      "news webmaster www uucp ftp bounce mailerdaemon noreply donotreply root admin administrator " +
      "billing help system relay mail api ssl").split(" ");
  const spelled = [...reserved, "Post.Master", "no-reply", "no_reply", "mailer-daemon", "A.P.I"];
  for (const localPart of spelled) {
    assertMailRefused(await owner.createInbox({ local_part: localPart }), "reserved_local_part");
  }
  await owner.inbox({ local_part: "support2" });
});

Deno.test("the local parts of the relay's own addresses at the domain of inboxes are reserved", async () => {
  const { mail } = (await import("../../server/config.ts")).parseConfig({
    RELAY_MAIL_DEV: "true",
    RELAY_MAIL_FROM: "Bulletin.Board@agents.test",
    RELAY_MAIL_POSTMASTER: "Chief@AGENTS.test",
  });
  await using relay = await startMailRelay({ config: { mail } });
  const owner = await newOrg(relay);
  for (const localPart of ["bulletin.board", "bulletin-board", "chief", "c.h.i.e.f"]) {
    assertMailRefused(await owner.createInbox({ local_part: localPart }), "reserved_local_part");
  }
});

Deno.test("PATCH of an inbox changes the named fields alone, clears by null, refuses unknown fields", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const made = await owner.inbox({
    display_name: "a",
    retention_days: 5,
    allow_send: ["x.org"],
    block_receive: ["y.org"],
  });
  const path = `/v1/mail/inboxes/${made.id}`;
  const patch = (body: unknown) => owner.ask("PATCH", path, { body });
  const each = (field: string, values: readonly unknown[]) =>
    refuseEach(field, values, (value) => patch({ [field]: value }));
  await each("display_name", [...WRONG_STRINGS, ...CONTROLS, "x".repeat(101)]);
  await each("send_policy", [null, ...WRONG_STRINGS, "", "draft"]);
  await each("retention_days", ["1", 0, 1.5, 3651, true]);
  for (const list of ["allow_send", "allow_receive", "block_receive"]) {
    await each(list, [null, ...BAD_LISTS]);
  }
  for (
    const field of ["local_part", "client_id", "id", "status", "unread_count", "__proto__", ""]
  ) {
    // JSON.stringify leaves __proto__ out.
    const answer = await patch(`{${JSON.stringify(field)}:"x"}`);
    assertMailRefused(answer, "invalid_json", /is not a field to change/);
  }
  // One wrong field, and nothing of the others is done.
  assertMailRefused(await patch({ display_name: "z", send_policy: "z" }), "invalid_json");
  assert.deepEqual(accepted(await owner.ask("GET", path), 200), made);

  relay.clock.advance(1000);
  const updated_at = new Date(relay.clock.now()).toISOString();
  const steps: [change: Record<string, unknown>, shown: Record<string, unknown>][] = [
    [{}, {}],
    [{ display_name: "b" }, { display_name: "b" }],
    [{ display_name: null }, { display_name: null }],
    [{ retention_days: null }, { retention_days: null }],
    [{ send_policy: "draft_only" }, { send_policy: "draft_only" }],
    [{ allow_send: [] }, { allow_send: [] }],
    [{ allow_receive: ["A.org"] }, { allow_receive: ["a.org"] }],
    [{ block_receive: ["z.org", "y.org"] }, { block_receive: ["z.org", "y.org"] }],
  ];
  let expected = { ...made, updated_at };
  for (const [change, shown] of steps) {
    expected = { ...expected, ...shown };
    assert.deepEqual(accepted(await patch(change), 200), expected);
    assert.deepEqual(accepted(await owner.ask("GET", path), 200), expected);
  }
});

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
