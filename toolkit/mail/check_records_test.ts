/** Published records compared with the wanted ones: each check by itself. */
import assert from "node:assert/strict";
import {
  checkDkim,
  checkDmarc,
  checkMx,
  checkReportsTaken,
  checkSpf,
  type Finding,
  type FindingState,
  type WantedDmarc,
} from "./check_records.ts";
import { parseDomainName } from "./domain_records.ts";

function assertFound({ state, why }: Finding, expected: FindingState, words: RegExp | null): void {
  assert.equal(state, expected, why ?? "");
  if (words === null) assert.equal(why, null);
  else assert.match(why!, words);
}

Deno.test("checkMx() wants these hosts and no others", () => {
  const cases: [string[], FindingState, RegExp | null][] = [
    [["mx1.example.org", "MX2.example.org"], "fine", null],
    [["mx2.example.org", "mx1.example.org"], "fine", null],
    [[], "missing", /no MX record/],
    [[""], "differs", /takes no mail/],
    [["mx1.example.org"], "differs", /^mx2\.example\.org is not among/],
    [
      ["mx1.example.org", "mx2.example.org", "old.example.net"],
      "differs",
      /^old\.example\.net gets/,
    ],
  ];
  assert.equal(cases.length, 6);
  for (const [published, state, words] of cases) {
    assertFound(checkMx(["mx1.example.org", "mx2.example.org"], published), state, words);
  }
});

Deno.test("checkSpf() wants the senders let in and all others out", () => {
  const wanted = ["include:spf.example.net", "ip4:192.0.2.9"];
  const cases: [string[], FindingState, RegExp | null][] = [
    [["v=spf1 include:spf.example.net ip4:192.0.2.9 ~all"], "fine", null],
    [["v=spf1 +ip4:192.0.2.0/24 INCLUDE:spf.example.net  mx -ALL"], "fine", null],
    [["other=1", "V=SPF1 include:spf.example.net ip4:192.0.2.9 -all"], "fine", null],
    [[], "missing", /v=spf1/],
    [["v=spf10 -all", "spf1"], "missing", /v=spf1/],
    [["v=spf1 -all", "v=spf1 mx -all"], "differs", /^2 records/],
    [["v=spf1 ip4:192.0.2.9 ~all"], "differs", /^include:spf\.example\.net is not/],
    [["v=spf1 ip4:192.0.2.9 -include:spf.example.net ~all"], "differs", /^include:spf/],
    [["v=spf1 ip4:192.0.2.9 ~all include:spf.example.net"], "differs", /^include:spf/],
    [["v=spf1 include:spf.example.net ip4:192.0.2.8/32 ~all"], "differs", /^ip4:192\.0\.2\.9 is/],
    [["v=spf1 redirect=x.example"], "differs", /redirect= leads to is not looked at/],
    [["v=spf1 include:spf.example.net ip4:192.0.2.9"], "differs", /end it with ~all/],
    [["v=spf1 include:spf.example.net ip4:192.0.2.9 ?all"], "differs", /nothing of other senders/],
    [["v=spf1 include:spf.example.net ip4:192.0.2.9 +all"], "differs", /everybody/],
    [["v=spf1 include:spf.example.net ip4:192.0.2.9 all"], "differs", /everybody/],
    [["v=spf1"], "differs", /^include:spf\.example\.net ip4:192\.0\.2\.9 is not/],
  ];
  assert.equal(cases.length, 16);
  for (const [texts, state, words] of cases) assertFound(checkSpf(wanted, texts), state, words);
});

Deno.test("checkDkim() wants this key, and nothing that keeps it from counting", () => {
  const wanted = "v=DKIM1; k=rsa; p=MIIBAAAA";
  const cases: [string[], FindingState, RegExp | null][] = [
    [[wanted], "fine", null],
    [["p=MIIB AAAA;"], "fine", null],
    [["v=DKIM1; h=sha1:sha256; s=email; t=s; n=a note; p=MIIBAAAA"], "fine", null],
    [["v=DKIM1; t=y:s; p=MIIBAAAA"], "fine", /being tried out/],
    [[], "missing", /selector/],
    [[wanted, wanted], "differs", /^2 TXT records/],
    [["hello"], "differs", /no DKIM record/],
    [["v=DKIM1; k=rsa"], "differs", /no DKIM record/],
    [["v=DKIM1; p=; p=MIIBAAAA"], "differs", /no DKIM record/],
    [["v=DKIM1; p="], "differs", /revoked/],
    [["v=DKIM1; p=MIIBAAAB"], "differs", /another key/],
    [["v=DKIM2; p=MIIBAAAA"], "differs", /^v=DKIM2 keeps/],
    [["k=ed25519; p=MIIBAAAA"], "differs", /^k=ed25519 keeps/],
    [["h=sha1; p=MIIBAAAA"], "differs", /^h=sha1 keeps/],
    [["s=other; p=MIIBAAAA"], "differs", /^s=other keeps/],
  ];
  assert.equal(cases.length, 15);
  for (const [texts, state, words] of cases) assertFound(checkDkim(wanted, texts), state, words);
});

Deno.test("checkDmarc() wants a policy at least as strict, and the report address", () => {
  const quarantine: WantedDmarc = { policy: "quarantine", reportTo: "d@example.org" };
  const cases: [WantedDmarc, string[], FindingState, RegExp | null][] = [
    [{}, ["v=DMARC1; p=none"], "fine", null],
    [{}, ["v=DMARC1;p=REJECT;"], "fine", null],
    [quarantine, ["v=DMARC1; p=reject; rua=mailto:x@y.z, MAILTO:D@example.org!10m"], "fine", null],
    [{}, [], "missing", /v=DMARC1/],
    [{}, ["v=spf1 -all", "v=DMARC10; p=none"], "missing", /v=DMARC1/],
    [{}, ["v=DMARC1; p=none", "v=DMARC1; p=none"], "differs", /^2 records/],
    [{}, ["v=DMARC1; p=none; p=none"], "differs", /cannot be read/],
    [{}, ["v=DMARC1; sp=none"], "differs", /no policy/],
    [{}, ["v=DMARC1; p=maybe"], "differs", /no policy/],
    [
      quarantine,
      ["v=DMARC1; p=none; rua=mailto:d@example.org"],
      "differs",
      /milder than quarantine/,
    ],
    [quarantine, ["v=DMARC1; p=quarantine"], "differs", /do not go to d@example\.org/],
  ];
  assert.equal(cases.length, 11);
  for (const [wanted, texts, state, words] of cases) {
    assertFound(checkDmarc(wanted, texts), state, words);
  }
  assertFound(checkReportsTaken(["v=DMARC1;"]), "fine", null);
  assertFound(checkReportsTaken(["v=spf1"]), "missing", /no reports/);
});

Deno.test("parseDomainName() takes names of hosts alone", () => {
  assert.equal(parseDomainName("Agents.Example.ORG."), "agents.example.org");
  assert.equal(parseDomainName("xn--bcher-kva.example"), "xn--bcher-kva.example");
  assert.equal(parseDomainName("relay1", 1), "relay1");
  const wrong = [
    "",
    ".",
    "org",
    "a..b",
    "-a.org",
    "a-.org",
    "a_b.org",
    "b\u00fccher.org",
    "a b.org",
  ]
    .concat(["1.2.3.4", "a.org..", `${"a".repeat(64)}.org`, `${"a.".repeat(127)}org`, "a.org\n"]);
  assert.equal(wrong.length, 14);
  for (const text of wrong) assert.equal(parseDomainName(text), null, text);
});
