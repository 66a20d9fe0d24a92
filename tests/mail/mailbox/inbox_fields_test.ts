/** What each field of an inbox takes and refuses, field by field (docs/mail.md, "Inboxes"). */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { CONTROLS, refuseEach, WRONG_STRINGS } from "../../support/refused_fields.ts";

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
  // RFC 2142 and docs/mail.md, by hand.
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
  const { mail } = (await import("../../../server/base/config/config.ts")).parseConfig({
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
