/** The received chain (ARC) of mails that lists and forwarders passed on, sealed by the library's signer. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { sealMessage } from "mailauth/lib/arc/index.js";
import { startAuthRig } from "../../support/auth_rig.ts";
import { startScriptedDns } from "../../support/dns_server.ts";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted } from "../../support/mail_caller.ts";
import { makeDkimKey } from "../../support/dkim_mail.ts";

const KEY = makeDkimKey();
const LIST = "lists.example";
const HOP = "forwarder.example";
const ZONE = {
  [`TXT s1._domainkey.${LIST}`]: { TXT: [KEY.record] },
  [`TXT s1._domainkey.${HOP}`]: { TXT: [KEY.record] },
  "TXT _dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] },
};
const MAIL = [
  "From: Alice <alice@example.org>",
  "To: list@lists.example",
  "Subject: [list] hello",
  "Date: Thu, 1 Jan 2026 00:00:00 +0000",
  "Message-ID: <1@example.org>",
  "",
  "Hello",
  "-- ",
  "a footer of the list",
  "",
].join("\r\n");
const PASSED = "mx.lists.example; dmarc=pass (p=REJECT) header.from=example.org";
const NO_SPF = { clientIp: null };

async function sealed(
  mail: string,
  { domain = LIST, results = PASSED, cv = "none", i = 1, headerList = "From:To:Subject:Reply-To" } =
    {},
): Promise<string> {
  const head = await sealMessage(Buffer.from(mail, "latin1"), {
    signingDomain: domain,
    selector: "s1",
    privateKey: KEY.privateKey,
    authResults: results,
    cv,
    i,
    headerList,
    // deno-lint-ignore no-explicit-any -- its types leave out what it takes
  } as any);
  return `${head.toString("latin1")}${mail}`;
}
const again = (mail: string, domain: string, i = 2) =>
  sealed(mail, { domain, i, cv: "pass", results: `mx.${domain}; arc=pass` });

/** arc, dmarc and verdict of each mail, as words. */
async function judged(mails: string[], trustedSealers: readonly string[] = []): Promise<string[]> {
  await using rig = startAuthRig(ZONE, { trustedSealers });
  const found: string[] = [];
  for (const mail of mails) {
    const { arc = "none", dmarc, verdict } = await rig.check(mail, NO_SPF);
    found.push(`${arc} ${dmarc} ${verdict}`);
  }
  assert.deepEqual(rig.losses, []);
  return found;
}

Deno.test("a chain of seals is verified and told, and by itself changes no verdict", async () => {
  const one = await sealed(MAIL);
  const two = await again(one, HOP);
  assert.deepEqual(await judged([MAIL, one, two]), [
    "none fail fail",
    "pass fail fail",
    "pass fail fail",
  ]);
});

Deno.test("a chain that was changed, cut, doubled or leaves something uncovered fails", async () => {
  const one = await sealed(MAIL);
  const two = await again(one, HOP);
  let long = one;
  for (let i = 2; i <= 11; i++) long = await again(long, HOP, i);
  const mails = [
    one.replace("a footer", "another footer"),
    one.replace("[list] hello", "[list] pay here"),
    one.replace("header.from=example.org", "header.from=example.com"),
    one.replace(/^ARC-Seal:[^]*?\r\n(?![ \t])/, ""),
    two.replace(/^ARC-Seal:[^]*?\r\n(?![ \t])/, ""),
    one.replace("cv=none", "cv=pass"),
    `${/^ARC-Seal:[^]*?\r\n(?![ \t])/.exec(one)![0]}${one}`,
    `From: Eve <eve@example.org>\r\n${one}`,
    await sealed(MAIL, { headerList: "To:Subject" }),
    await sealed(MAIL, { domain: "nokey.example" }),
    long,
    `ARC-Seal: i=1\r\n${MAIL}`,
    `${"ARC-Seal: i=1; a=(((\r\n".repeat(3)}${MAIL}`,
  ];
  const found = await judged(mails, [LIST, HOP]);
  assert.equal(found.length, 13);
  for (const [index, words] of found.entries()) {
    assert.match(words, /^fail (?:fail|permerror) fail$/, `mail ${index}`);
  }
});

Deno.test("seals of domains that the operator trusts make DMARC's pass before them count, and no others", async () => {
  const one = await sealed(MAIL);
  const both = [LIST, HOP];
  const two = await again(one, HOP);
  assert.deepEqual(await judged([one, two], both), ["pass fail pass", "pass fail pass"]);
  // Anybody in a chain could have made up what is before: all have to be trusted.
  assert.deepEqual(await judged([one, two], [LIST]), ["pass fail pass", "pass fail fail"]);
  assert.deepEqual(await judged([one, two], [HOP]), ["pass fail fail", "pass fail fail"]);
  assert.deepEqual(await judged([one], [`mx.${LIST}`, "example"]), ["pass fail fail"]);
  const told = [
    "mx.lists.example; dmarc=fail header.from=example.org",
    "mx.lists.example; dmarc=pass header.from=example.com",
    "mx.lists.example; dmarc=pass",
    "mx.lists.example; spf=pass (helo ; dmarc=pass header.from=example.org) smtp.mailfrom=x",
    'mx.lists.example; spf=pass smtp.mailfrom="; dmarc=pass header.from=example.org ;"@x.example',
    "mx.lists.example; dmarc=pass header.from=example.org; dmarc=fail header.from=example.org",
  ];
  const mails = await Promise.all(told.map((results) => sealed(MAIL, { results })));
  assert.deepEqual(await judged(mails, both), told.map(() => "pass fail fail"));
});

Deno.test("a message tells of its chain in auth.arc", async () => {
  await using dns = startScriptedDns(ZONE);
  await using rig = await startInboundRig({ dns: dns.server });
  for (const raw of [await sealed(MAIL), MAIL]) accepted(await rig.deliver({ raw }), 200);
  const { data } = await rig.list("?order=asc");
  assert.deepEqual(data.map(({ auth }: { auth: { arc: string } }) => auth.arc), ["pass", "none"]);
});

Deno.test("hostile chains are judged in little time", async () => {
  const tags = (i: number) => `i=${i}; a=rsa-sha256; d=${LIST}; s=s1; b=AAAA`;
  const chain = (padding: string) =>
    Array.from({ length: 10 }, (_, at) => {
      const i = at + 1;
      const results = `i=${i}; ${padding.repeat(Math.floor(4_000 / padding.length))}`;
      return `ARC-Seal: ${tags(i)}; cv=${i === 1 ? "none" : "pass"}\r\n` +
        `ARC-Message-Signature: ${tags(i)}; bh=AAAA; h=${"from:".repeat(700)}from\r\n` +
        `ARC-Authentication-Results: ${results}\r\n`;
    }).join("") + MAIL;
  const mails = ["(", '"', "a=b ", "x;", "\\", "=?utf-8?q?x?= ", "()", "a.b=c;"].map(chain);
  const beganMs = performance.now();
  const found = await judged(mails, [LIST]);
  const tookMs = performance.now() - beganMs;
  assert.deepEqual(found, mails.map(() => "fail fail fail"));
  assert.ok(tookMs < 8_000, `${mails.length} mails took ${tookMs} ms`);
});
