/** What SPF, DKIM and DMARC say of mails, over DNS on this machine. */
// Over 300 lines: each case is a zone and a mail beside the words that they lead to.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { dkimSign } from "mailauth/lib/dkim/sign.js";
import type { MailAuth } from "../../../server/mail/records/message_record.ts";
import { type AuthRig, startAuthRig } from "../../support/auth_rig.ts";
import { type DkimKey, dkimSigned, makeDkimKey } from "../../support/dkim_mail.ts";
import type { ScriptedRecords } from "../../support/dns_server.ts";

const MAIL = [
  "From: Alice <alice@example.org>",
  "To: bot@agents.example",
  "Subject: hello",
  "Date: Thu, 1 Jan 2026 00:00:00 +0000",
  "Message-ID: <1@example.org>",
  "",
  "Hello  there \t ",
  "",
  "bye",
  "",
].join("\r\n");
const KEY = makeDkimKey();
const published = (domain: string, { record }: DkimKey = KEY) => ({
  [`TXT s1._domainkey.${domain}`]: { TXT: [record] },
});
const signed = (domain: string, mail = MAIL, key = KEY) => dkimSigned(mail, domain, "s1", key);

type Zone = Record<string, ScriptedRecords>;
/** spf dkim dmarc verdict */
const words = ({ spf, dkim, dmarc, verdict }: MailAuth) => `${spf} ${dkim} ${dmarc} ${verdict}`;

/** One check after the other, each with a zone of its own. */
const checksOn = (rig: AuthRig) =>
async (
  zone: Zone,
  mail = MAIL,
  client: Parameters<AuthRig["check"]>[1] = {},
): Promise<MailAuth> => {
  rig.publish(zone);
  const auth = await rig.check(mail, client);
  assert.deepEqual(rig.losses, []);
  return auth;
};

Deno.test("AuthChecker.check() gives each result of SPF, and none where the client is not known", async () => {
  await using rig = startAuthRig();
  const cases: [ScriptedRecords, string][] = [
    [{ TXT: ["v=spf1 ip4:192.0.2.0/24 -all"] }, "pass"],
    [{ TXT: ["v=spf1 ip4:198.51.100.0/24 -all"] }, "fail"],
    [{ TXT: ["v=spf1 ~all"] }, "softfail"],
    [{ TXT: ["v=spf1 ?all"] }, "neutral"],
    [{ TXT: ["v=spf1 mx -all"] }, "pass"],
    [{ TXT: ["v=spf1 a:host.example.org -all"] }, "pass"],
    [{ TXT: ["v=spf1 include:broken.example -all"] }, "temperror"],
    [{ TXT: ["v=spf1 include:nothing.example -all"] }, "permerror"],
    [{ TXT: ["v=spf1 redirect=other.example"] }, "pass"],
    [{ TXT: ["v=spf1 -all", "v=spf1 +all"] }, "permerror"],
    [{ TXT: ["v=spf1 nonsense -all"] }, "permerror"],
    [{ TXT: ["something else"] }, "none"],
    ["nxdomain", "none"],
    ["servfail", "temperror"],
    ["refused", "temperror"],
    ["nonsense", "temperror"],
    ["cut", "temperror"],
  ];
  rig.dns.zone.set("MX example.org", { MX: ["10 mx.example.org"] });
  rig.dns.zone.set("A mx.example.org", { A: ["192.0.2.1"] });
  rig.dns.zone.set("A host.example.org", { CNAME: "real.example.org" });
  rig.dns.zone.set("A real.example.org", { A: ["203.0.113.9", "192.0.2.1"] });
  rig.dns.zone.set("TXT broken.example", "servfail");
  rig.dns.zone.set("TXT other.example", { TXT: ["v=spf1 ip4:192.0.2.1 -all"] });
  for (const [records, spf] of cases) {
    rig.dns.zone.set("TXT example.org", records);
    assert.equal((await rig.check(MAIL)).spf, spf, JSON.stringify(records));
  }
  rig.dns.zone.set("TXT example.org", { TXT: ["v=spf1 -all"] });
  assert.equal((await rig.check(MAIL, { clientIp: null })).spf, "none");
  assert.equal((await rig.check(MAIL, { clientIp: "no address" })).spf, "none");
});

Deno.test("AuthChecker.check() takes the client's name for an empty sender, and IPv6 addresses", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const zone: Zone = {
    "TXT mx.example.org": { TXT: ["v=spf1 ip4:192.0.2.1 ip6:2001:db8::/32 -all"] },
  };
  const bounce = { envelopeFrom: "" };
  assert.equal((await checked(zone, MAIL, bounce)).spf, "pass");
  // Aligned with From by the organization.
  assert.equal((await checked(zone, MAIL, bounce)).verdict, "pass");
  assert.equal((await checked(zone, MAIL, { ...bounce, clientIp: "2001:db8::1" })).spf, "pass");
  assert.equal((await checked(zone, MAIL, { ...bounce, clientIp: "2001:db9::1" })).spf, "fail");
  assert.equal((await checked(zone, MAIL, { ...bounce, clientIp: "::ffff:c000:201" })).spf, "pass");
  for (const helo of [null, "[192.0.2.1]", "x".repeat(300), "a b"]) {
    assert.equal((await checked(zone, MAIL, { ...bounce, helo })).spf, "none", String(helo));
  }
});

Deno.test("AuthChecker.check() passes what an aligned signature or SPF speaks for, without a record too", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const spf: Zone = { "TXT example.org": { TXT: ["v=spf1 ip4:192.0.2.1 -all"] } };
  const dmarc: Zone = { "TXT _dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] } };
  const mail = await signed("example.org");
  const dkim = published("example.org");
  assert.equal(words(await checked({ ...spf, ...dmarc })), "pass none pass pass");
  assert.equal(words(await checked({ ...dkim, ...dmarc }, mail)), "none pass pass pass");
  assert.equal(words(await checked(spf)), "pass none none pass");
  assert.equal(words(await checked(dkim, mail)), "none pass none pass");
  assert.equal(words(await checked({ ...spf, ...dkim, ...dmarc }, mail)), "pass pass pass pass");
  assert.equal(words(await checked({})), "none none none none");
  assert.equal(words(await checked(dmarc)), "none none fail fail");
  assert.equal((await checked({})).fromDomain, "example.org");
});

Deno.test("AuthChecker.check() fails what passes for another domain, where the From has a record", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const dmarc: Zone = { "TXT _dmarc.example.org": { TXT: ["v=DMARC1; p=none"] } };
  const other: Zone = { "TXT evil.example": { TXT: ["v=spf1 +all"] } };
  const client = { envelopeFrom: "x@evil.example" };
  const mail = await signed("evil.example");
  const dkim = published("evil.example");
  assert.equal(
    words(await checked({ ...other, ...dkim, ...dmarc }, mail, client)),
    "pass pass fail fail",
  );
  assert.equal(words(await checked({ ...other, ...dkim }, mail, client)), "pass pass none none");
});

Deno.test("AuthChecker.check() aligns by organization, and exactly where the record asks for it", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const sub = MAIL.replace("alice@example.org", "alice@mail.example.co.uk");
  const mail = await signed("example.co.uk", sub);
  const dkim = published("example.co.uk");
  const ofOrganization = (record: string): Zone => ({
    "TXT _dmarc.example.co.uk": { TXT: [record] },
  });
  const results: [string, string][] = [
    ["v=DMARC1; p=reject; sp=none", "none pass pass pass"],
    ["v=DMARC1; p=none; adkim=s", "none pass fail fail"],
    ["v=DMARC1; p=none; ADKIM = S ; aspf=s", "none pass fail fail"],
    ["v=DMARC1; p=none; aspf=s", "none pass pass pass"],
    ["v=DMARC1; adkim=s", "none pass none pass"],
  ];
  for (const [record, expected] of results) {
    assert.equal(
      words(await checked({ ...dkim, ...ofOrganization(record) }, mail)),
      expected,
      record,
    );
  }
  // A record of its own wins over the organization's.
  const own = { "TXT _dmarc.mail.example.co.uk": { TXT: ["v=DMARC1; p=none; adkim=s"] } };
  const relaxed = ofOrganization("v=DMARC1; p=none");
  assert.equal(words(await checked({ ...dkim, ...relaxed, ...own }, mail)), "none pass fail fail");
  // Strict alignment of SPF.
  const spf: Zone = { "TXT bounce.example.org": { TXT: ["v=spf1 +all"] } };
  const client = { envelopeFrom: "b@bounce.example.org" };
  const record = (text: string): Zone => ({ "TXT _dmarc.example.org": { TXT: [text] } });
  const relaxedSpf = await checked({ ...spf, ...record("v=DMARC1; p=none") }, MAIL, client);
  assert.equal(words(relaxedSpf), "pass none pass pass");
  const strictSpf = await checked({ ...spf, ...record("v=DMARC1; p=none; aspf=s") }, MAIL, client);
  assert.equal(words(strictSpf), "pass none fail fail");
  // Neighbours below a public suffix are of two organizations.
  const neighbour = MAIL.replace("alice@example.org", "alice@a.co.uk");
  const foreign = await signed("b.co.uk", neighbour);
  assert.equal((await checked(published("b.co.uk"), foreign)).verdict, "none");
});

Deno.test("AuthChecker.check() calls several or no From a permanent error of DMARC, which fails", async () => {
  const zone: Zone = {
    "TXT example.org": { TXT: ["v=spf1 +all"] },
    "TXT _dmarc.example.org": { TXT: ["v=DMARC1; p=none"] },
  };
  const from = (lines: string) => MAIL.replace("From: Alice <alice@example.org>\r\n", lines);
  const several = [
    from(""),
    from("From: a@example.org\r\nFrom: b@example.org\r\n"),
    from("From: a@example.org\r\nfrom : b@other.example\r\n"),
    from("From: a@example.org, b@other.example\r\n"),
    from("From: group:;\r\n"),
    from("From: \r\n"),
    from("From: nobody\r\n"),
    from("From: a@[192.0.2.1]\r\n"),
    from(`From: ${"x".repeat(9_000)} <a@example.org>\r\n`),
    "",
    "\r\n",
    "\r\nFrom: a@example.org\r\n",
  ];
  await using rig = startAuthRig(zone);
  for (const mail of several) {
    const auth = await rig.check(mail);
    assert.deepEqual(
      [words(auth), auth.fromDomain],
      ["pass none permerror fail", null],
      mail.slice(0, 60),
    );
  }
  const one: [string, string][] = [
    ['"b@other.example" <a@EXAMPLE.org>', "example.org"],
    ["a@b@example.org", "example.org"],
    ["=?utf-8?q?x=40other.example?= <a@example.org>", "example.org"],
    ["Alice\r\n <a@example.org>", "example.org"],
    ["a@b\xc3\xbccher.example", "xn--bcher-kva.example"],
  ];
  for (const [value, domain] of one) {
    assert.equal((await rig.check(from(`From: ${value}\r\n`))).fromDomain, domain, value);
  }
});

Deno.test("AuthChecker.check() tells a false signature from one that cannot be checked", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const mail = await signed("example.org");
  const zone = published("example.org");
  const key = (record: ScriptedRecords): Zone => ({ "TXT s1._domainkey.example.org": record });
  const text = (record: string) => key({ TXT: [record] });
  const short = makeDkimKey(512);
  const cases: [string, Zone, string, string?][] = [
    ["good", zone, "pass"],
    ["with other space in the body", zone, "pass", mail.replace("Hello  there \t ", "Hello there")],
    ["with more empty lines at the end", zone, "pass", `${mail}\r\n\r\n`],
    ["with bare line feeds", zone, "pass", mail.replaceAll("\r\n", "\n")],
    ["another body", zone, "fail", mail.replace("bye", "buy")],
    ["another subject", zone, "fail", mail.replace("Subject: hello", "Subject: hell")],
    ["another From", zone, "fail", mail.replace("alice@", "mallory@")],
    ["another key", published("example.org", makeDkimKey()), "fail"],
    ["no key", {}, "permerror"],
    ["no answer", key("servfail"), "temperror"],
    ["a revoked key", text("v=DKIM1; p="), "permerror"],
    ["no base64", text("v=DKIM1; p=%%%"), "permerror"],
    ["half a key", text(KEY.record.slice(0, 120)), "permerror"],
    ["a key of another kind", text(KEY.record.replace("k=rsa", "k=ed25519")), "permerror"],
    ["a key of another version", text(KEY.record.replace("DKIM1", "DKIM2")), "permerror"],
    ["a huge key", text(`${KEY.record}${"A".repeat(3_000)}`), "permerror"],
    [
      "a short key",
      published("example.org", short),
      "permerror",
      await signed("example.org", MAIL, short),
    ],
    ["SHA-1", zone, "permerror", mail.replace("rsa-sha256", "rsa-sha1")],
    ["From not signed", zone, "permerror", mail.replace(/h=from:/i, "h=")],
    ["no domain", zone, "permerror", mail.replace(/ d=example.org;/, "")],
    [
      "an identity elsewhere",
      zone,
      "permerror",
      mail.replace("d=example.org;", "d=example.org; i=@evil.example;"),
    ],
    [
      "a tag twice",
      zone,
      "permerror",
      mail.replace("d=example.org;", "d=example.org; d=example.org;"),
    ],
    ["nonsense", zone, "permerror", `DKIM-Signature: nonsense\r\n${MAIL}`],
    ["expired", zone, "fail", mail.replace("d=example.org;", "d=example.org; x=1;")],
    [
      "only a part of the body signed",
      zone,
      "fail",
      mail.replace("d=example.org;", "d=example.org; l=1;"),
    ],
    [
      "more than the body signed",
      zone,
      "fail",
      mail.replace("d=example.org;", "d=example.org; l=99;"),
    ],
    ["no length", zone, "permerror", mail.replace("d=example.org;", "d=example.org; l=all;")],
  ];
  for (const [what, records, expected, other] of cases) {
    assert.equal((await checked(records, other ?? mail)).dkim, expected, what);
  }
});

Deno.test("AuthChecker.check() checks both forms of a body, and l= where it covers all of it", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const body = MAIL.slice(MAIL.indexOf("\r\n\r\n") + 4);
  const forms: [string, number | undefined, string][] = [
    ["simple/simple", undefined, "pass"],
    ["simple/simple", body.length, "pass"],
    ["relaxed/simple", body.length - 1, "fail"],
    ["simple/relaxed", "Hello there\r\n\r\nbye\r\n".length, "pass"],
    ["relaxed/relaxed", 5, "fail"],
  ];
  for (const [canonicalization, maxBodyLength, expected] of forms) {
    const { signatures } = await dkimSign(Buffer.from(MAIL), {
      signTime: new Date(), // else the library looks at the clock twice
      canonicalization,
      signingDomain: "example.org",
      selector: "s1",
      privateKey: KEY.privateKey,
      signatureData: [{
        signingDomain: "example.org",
        selector: "s1",
        privateKey: KEY.privateKey,
        ...(maxBodyLength === undefined ? {} : { maxBodyLength }),
      }],
    });
    const auth = await checked(published("example.org"), signatures + MAIL);
    assert.equal(auth.dkim, expected, `${canonicalization} ${maxBodyLength}`);
  }
});

Deno.test("AuthChecker.check() takes the best of several signatures, and the newest ten", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const zone = published("example.org");
  const good = await signed("example.org");
  const broken =
    "DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=gone; h=from; bh=AAAA; b=AAAA\r\n";
  assert.equal((await checked(zone, broken + good)).dkim, "pass");
  assert.equal((await checked(zone, broken + MAIL)).dkim, "fail");
  assert.equal((await checked(zone, broken.repeat(9) + good)).dkim, "pass");
  assert.equal((await checked(zone, broken.repeat(10) + good)).dkim, "fail");
  const both = await signed("other.example", good);
  assert.equal((await checked({ ...zone, ...published("other.example") }, both)).dkim, "pass");
});

Deno.test("AuthChecker.check() counts no ARC seal for a signature", async () => {
  const arc = (await signed("example.org")).replace(
    /^DKIM-Signature: v=1;/,
    "ARC-Message-Signature: i=1;",
  );
  const seal = "ARC-Seal: i=1; a=rsa-sha256; cv=none; d=example.org; s=s1; b=AAAA\r\n";
  const results = "ARC-Authentication-Results: i=1; mx.example.org; dkim=pass\r\n";
  await using rig = startAuthRig(published("example.org"));
  const auth = await rig.check(seal + results + arc);
  assert.deepEqual([auth.dkim, auth.arc], ["none", "fail"]);
});

Deno.test("AuthChecker.check() says temperror where what DNS did not tell could have passed", async () => {
  await using rig = startAuthRig();
  const checked = checksOn(rig);
  const dmarc: Zone = { "TXT _dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] } };
  const mail = await signed("example.org");
  const key: Zone = { "TXT s1._domainkey.example.org": "servfail" };
  assert.equal(words(await checked({ ...dmarc, ...key }, mail)), "none temperror temperror error");
  assert.equal(words(await checked(key, mail)), "none temperror none error");
  const spf: Zone = { "TXT example.org": "servfail" };
  assert.equal(words(await checked({ ...dmarc, ...spf })), "temperror none temperror error");
  assert.equal(
    words(await checked({ "TXT _dmarc.example.org": "servfail" })),
    "none none temperror error",
  );
  // What another domain's servers do not tell changes nothing.
  const foreign = await signed("evil.example");
  const silent: Zone = {
    "TXT s1._domainkey.evil.example": "servfail",
    "TXT evil.example": "servfail",
  };
  const client = { envelopeFrom: "x@evil.example" };
  assert.equal(
    words(await checked({ ...dmarc, ...silent }, foreign, client)),
    "temperror temperror fail fail",
  );
});
