/** What a signature speaks for: fields that stand once, and a Reply-To that it covers. */
import assert from "node:assert/strict";
import { startAuthRig } from "../../support/auth_rig.ts";
import { makeDkimKey, signedNaming } from "../../support/dkim_mail.ts";
import type { ScriptedRecords } from "../../support/dns_server.ts";

const KEY = makeDkimKey();
const [REJECT, STRICT] = ["v=DMARC1; p=reject", "v=DMARC1; p=reject; adkim=s; aspf=s"];
/** From's domain, one below it, and a stranger's, who signs what he likes. */
const zoneOf = (policy: string | null): Record<string, ScriptedRecords> => ({
  "TXT s1._domainkey.example.org": { TXT: [KEY.record] },
  "TXT s1._domainkey.mail.example.org": { TXT: [KEY.record] },
  "TXT s1._domainkey.evil.example": { TXT: [KEY.record] },
  "TXT evil.example": { TXT: ["v=spf1 +all"] },
  ...(policy === null ? {} : { "TXT _dmarc.example.org": { TXT: [policy] } }),
});
/** All fields that may stand in a mail only once, as they stand in it. */
const FIELDS: readonly (readonly [name: string, value: string])[] = [
  ["From", "Alice <alice@example.org>"],
  ["Reply-To", "alice@example.org"],
  ["To", "bot@agents.example"],
  ["Cc", "carol@example.org"],
  ["Subject", "Invoice"],
  ["Date", "Thu, 1 Jan 2026 00:00:00 +0000"],
  ["Message-ID", "<1@example.org>"],
  ["Content-Type", "text/plain; charset=utf-8"],
  ["MIME-Version", "1.0"],
];
const NAMES = FIELDS.map(([name]) => name.toLowerCase());
const BODY = "Hello\r\n";
const mailOf = (fields: typeof FIELDS) =>
  fields.map(([name, value]) => `${name}: ${value}\r\n`).join("") + `\r\n${BODY}`;
const MAIL = mailOf(FIELDS);
const signed = (names: readonly string[], mail = MAIL, domain = "example.org") =>
  signedNaming(mail, names, { domain, key: KEY });
const NO_SPF = { clientIp: null };

Deno.test("a second field of any that may stand once, wherever and whether or not it is signed: no pass", async () => {
  const seen: string[] = [];
  for (const policy of [REJECT, null]) {
    await using rig = startAuthRig(zoneOf(policy));
    assert.equal((await rig.check(signed(NAMES), NO_SPF)).verdict, "pass");
    for (const name of NAMES) {
      const others = NAMES.filter((one) => one === "from" || one !== name);
      assert.equal((await rig.check(signed(others), NO_SPF)).verdict, "pass", `without ${name}`);
      for (const h of [NAMES, others, ["from"]]) {
        const mail = signed(h);
        const second = `${name.toUpperCase()}: eve@evil.example`;
        const forms = [
          `${second}\r\n${mail}`,
          mail.replace("\r\n\r\n", `\r\n${second}\r\n\r\n`),
          // White space before the colon, and a value in a line of its own, make no other field.
          `${name} :\r\n eve@evil.example\r\n${mail}`,
          `${second}\n${mail}`,
        ];
        for (const form of forms) {
          const auth = await rig.check(form, NO_SPF);
          assert.notEqual(auth.dkim, "pass", form);
          assert.ok(auth.verdict === "fail" || policy === null && auth.verdict === "none", form);
          seen.push(form);
        }
      }
    }
  }
  assert.equal(seen.length, 2 * 9 * 3 * 4);
});

Deno.test("fields that may stand more than once, and one that is new, leave a signature as it is", async () => {
  await using rig = startAuthRig(zoneOf(REJECT));
  for (const field of ["Received: x", "X-Subject: y", "List-Id: <l>", "Comments: z"]) {
    assert.equal((await rig.check(`${field}\r\n${field}\r\n${signed(NAMES)}`)).dkim, "pass", field);
  }
  const without = mailOf(FIELDS.filter(([name]) => name !== "Cc"));
  // What is not there is signed as well, where it is named.
  const added = `Cc: eve@evil.example\r\n${signed(NAMES, without)}`;
  assert.equal((await rig.check(added)).dkim, "fail");
});

Deno.test("a doubled field takes nothing from SPF, which rests on who handed the mail in", async () => {
  await using rig = startAuthRig({
    ...zoneOf(REJECT),
    "TXT example.org": { TXT: ["v=spf1 ip4:192.0.2.1 -all"] },
  });
  const { auth, isReplyToUnsigned } = await rig.checkSender(
    `Reply-To: eve@evil.example\r\n${signed(["from"])}`,
  );
  assert.deepEqual([auth.dkim, auth.spf, auth.verdict], ["fail", "pass", "pass"]);
  assert.equal(isReplyToUnsigned, false);
});

Deno.test("a Reply-To to strangers that no signature of From's domain covers is told of, whoever else signs it", async () => {
  const foreign = (value: string) =>
    mailOf(FIELDS.map(([name, own]) => [name, name === "Reply-To" ? value : own]));
  const others = NAMES.filter((name) => name !== "reply-to");
  const thief = foreign("thief@evil.example");
  const spf = { clientIp: "192.0.2.9", envelopeFrom: "x@evil.example" };
  const cases: [what: string, mail: string, unsigned: boolean, policy?: string | null][] = [
    ["not covered", signed(others, thief), true],
    ["not covered, and no DMARC record", signed(others, thief), true, null],
    ["covered", signed(NAMES, thief), false],
    ["own domain", signed(others), false],
    ["own organization", signed(others, foreign("desk@help.example.org")), false],
    ["one of two", signed(others, foreign("alice@example.org, thief@evil.example")), true],
    ["in a group", signed(others, foreign("x: thief@evil.example;")), true],
    ["behind a name", signed(others, foreign('"alice@example.org" <thief@evil.example>')), true],
    ["behind a comment", signed(others, foreign("thief@evil.example (alice@example.org)")), true],
    ["folded", signed(others, foreign("Alice\r\n <thief@evil.example>")), true],
    ["a neighbour's name", signed(others, foreign("a@example.org.evil.example")), true],
    ["an address of IP", signed(others, foreign("thief@[192.0.2.1]")), true],
    ["no address", signed(others, foreign("nobody")), false],
    ["many", signed(others, foreign(`${"alice@example.org, ".repeat(501)}t@evil.example`)), true],
    [
      "signed by the thief too",
      signed(["from", "reply-to"], signed(others, thief), "evil.example"),
      true,
    ],
    [
      "signed below",
      signed(["from", "reply-to"], signed(others, thief), "mail.example.org"),
      false,
    ],
    [
      "signed below, where it has to be the domain itself",
      signed(["from", "reply-to"], signed(others, thief), "mail.example.org"),
      true,
      STRICT,
    ],
  ];
  await using rig = startAuthRig();
  for (const [what, mail, unsigned, policy = REJECT] of cases) {
    rig.publish(zoneOf(policy));
    const { auth, isReplyToUnsigned } = await rig.checkSender(mail, spf);
    assert.equal(auth.verdict, "pass", what);
    assert.equal(isReplyToUnsigned, unsigned, what);
  }
  // A failed signature shows nothing more.
  rig.publish(zoneOf(REJECT));
  const failing = await rig.checkSender(thief, spf);
  assert.deepEqual([failing.auth.verdict, failing.isReplyToUnsigned], ["fail", false]);
});
