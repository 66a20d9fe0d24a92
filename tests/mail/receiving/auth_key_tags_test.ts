/** What a published key says of its own use (RFC 6376, 3.6.1), and that opendkim obeys the same. */
import assert from "node:assert/strict";
import { startAuthRig } from "../../support/auth_rig.ts";
import { makeDkimKey, signedNaming } from "../../support/dkim_mail.ts";
import { opendkimOrSkip } from "../../support/opendkim.ts";

const KEY = makeDkimKey();
const VALUE = KEY.record.slice(KEY.record.indexOf("p="));
const MAIL = "From: Alice <alice@example.org>\r\nSubject: hello\r\n\r\nHello\r\n";
const signed = (tags: string) =>
  signedNaming(MAIL, ["from", "subject"], { domain: "example.org", key: KEY, tags });
const BELOW = "i=bot@sub.example.org; ";

/** Tags beside the key's value, whether a signature counts, and further tags of the signature. */
const CASES: [tags: string, counts: boolean, signature?: string][] = [
  ["v=DKIM1; k=rsa;", true],
  ["", true],
  ["h=sha256;", true],
  ["h=sha1:sha256;", true],
  ["h = sha1 : SHA256 ;", true],
  ["h=sha1;", false],
  ["v=DKIM1; h=sha1; k=rsa;", false],
  ["h=sha512;", false],
  ["h=sha1 :\tsha512;", false],
  ["s=*;", true],
  ["s=email;", true],
  ["s = tlsrpt : email ;", true],
  ["s=*:email;", true],
  ["s=tlsrpt;", false],
  ["v=DKIM1; s = tlsrpt : other;", false],
  ["t=s;", true],
  ["t=s;", true, "i=@example.org; "],
  ["t=s;", true, "i=alice@EXAMPLE.org; "],
  ["t=s;", false, "i=@sub.example.org; "],
  ["t=s;", false, BELOW],
  ["t = y : s ;", false, BELOW],
  ["t=x:s:z;", false, BELOW],
  ["t=x;", true, BELOW],
  ["", true, BELOW],
  // Being tested, a key counts.
  ["t=y;", true],
  ["h=;", false],
  ["h=sha1:sha256:other;", true],
  ["s=;", false],
  ["s=EMAIL;", true],
  ["s=*x;", false],
  ["t=;", true, BELOW],
  ["t=S;", false, BELOW],
  ["t=ss;", true, BELOW],
  ["t=y;", true, BELOW],
  ["n=s=tlsrpt h=sha1;", true],
];

Deno.test("AuthChecker.check() obeys h=, s= and t= of a published key", async () => {
  await using rig = startAuthRig({ "TXT _dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] } });
  for (const [tags, counts, signature = ""] of CASES) {
    // v= has to be the first tag; the others may stand behind the value too.
    const records = [`${tags} ${VALUE}`, ...tags.startsWith("v=") ? [] : [`${VALUE}; ${tags}`]];
    for (const record of records) {
      // In two chunks and more; a tag may end inside one (dns_server.ts cuts at 255).
      rig.dns.zone.set("TXT s1._domainkey.example.org", { TXT: [record] });
      const { dkim, verdict } = await rig.check(signed(signature), { clientIp: null });
      const expected = counts ? ["pass", "pass"] : ["permerror", "fail"];
      assert.deepEqual([dkim, verdict], expected, `${record} ${signature}`);
    }
  }
});

Deno.test("AuthChecker.check() takes the key that it verified with, and no list that has a tag twice", async () => {
  const zone = (...texts: string[]) => ({ "TXT s1._domainkey.example.org": { TXT: texts } });
  const cases: [texts: string[], dkim: string][] = [
    [[`h=sha1; ${VALUE}`, VALUE], "permerror"],
    [[VALUE, `h=sha1; ${VALUE}`], "pass"],
    [[`t=y; t=s; ${VALUE}`], "permerror"],
  ];
  await using rig = startAuthRig();
  for (const [texts, dkim] of cases) {
    rig.publish(zone(...texts));
    assert.equal((await rig.check(signed(""))).dkim, dkim, texts.join(" | ").slice(0, 40));
  }
  // One signature that its key does not allow leaves another one as it is.
  rig.publish({
    "TXT s1._domainkey.example.org": { TXT: [VALUE] },
    "TXT tls._domainkey.example.org": { TXT: [`s=tlsrpt; ${VALUE}`] },
  });
  const options = { domain: "example.org", key: KEY, selector: "tls" };
  const both = signedNaming(signed(""), ["from"], options);
  assert.equal((await rig.check(both)).dkim, "pass");
  assert.equal((await rig.check(signedNaming(MAIL, ["from"], options))).dkim, "permerror");
});

await opendkimOrSkip("opendkim counts the same keys", async (verify) => {
  const found = await verify(CASES.map(([tags, , signature = ""]) => ({
    mail: signed(signature),
    record: `${tags} ${VALUE}`,
  })));
  const told = (counts: boolean, i: number) => `${CASES[i]![0]} ${CASES[i]![2] ?? ""} ${counts}`;
  assert.deepEqual(found.map(told), CASES.map(([, counts], i) => told(counts, i)));
});
