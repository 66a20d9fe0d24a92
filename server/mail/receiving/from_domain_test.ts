import assert from "node:assert/strict";
import { parseMail } from "../parsing/parse_mail.ts";
import { fromDomainOf, withFromDomain } from "./from_domain.ts";

const context = { envelopeFrom: "a@a.example", limits: { parts: 10, depth: 10 } };
const domain = (header: string) =>
  fromDomainOf(parseMail(new TextEncoder().encode(`${header}\r\n\r\nx`), context).facts);

Deno.test("fromDomainOf() gives the domain of the one From, lowercased and in A-labels", () => {
  assert.equal(domain("From: A <a@Else.Test>"), "else.test");
  assert.equal(domain(`From: "a@b.test" <c@d.test>`), "d.test");
  assert.equal(domain("From: a@bücher.example"), "xn--bcher-kva.example");
});

Deno.test("fromDomainOf() gives null for none and for several, whatever domains they are at", () => {
  for (
    const header of [
      "Subject: x",
      "From: nobody",
      "From: a@x.test, b@x.test",
      "From: a@x.test\r\nFrom: a@x.test",
      "From: group: a@x.test, b@y.test;",
    ]
  ) assert.equal(domain(header), null, header);
});

Deno.test("withFromDomain() names the domain where nothing was checked, and changes no verdict", () => {
  const { facts } = parseMail(new TextEncoder().encode("From: a@x.test\r\n\r\n"), context);
  const none = { spf: "none", dkim: "none", dmarc: "none", verdict: "none" } as const;
  assert.deepEqual(withFromDomain({ ...none, fromDomain: null }, facts), {
    ...none,
    fromDomain: "x.test",
  });
  const checked = { ...none, fromDomain: "y.test" };
  assert.equal(withFromDomain(checked, facts), checked);
  const several = { ...none, dmarc: "permerror", verdict: "fail", fromDomain: null } as const;
  assert.equal(withFromDomain(several, facts), several);
});
