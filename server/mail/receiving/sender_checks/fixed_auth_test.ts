import assert from "node:assert/strict";
import { parseMail } from "../../reading/parse_mail.ts";
import type { MailAuth } from "../../records/message_record.ts";
import { authOfShownFrom, insideAuth, UNCHECKED } from "./fixed_auth.ts";

const context = { envelopeFrom: "a@a.example", limits: { parts: 10, depth: 10 } };
const facts = (header: string) =>
  parseMail(new TextEncoder().encode(`${header}\r\n\r\nx`), context).facts;
const domain = (header: string) => authOfShownFrom(UNCHECKED, facts(header)).fromDomain;

Deno.test("authOfShownFrom() names the domain of the one From where nothing was checked", () => {
  assert.equal(domain("From: A <a@Else.Test>"), "else.test");
  assert.equal(domain(`From: "a@b.test" <c@d.test>`), "d.test");
  const odd = { from: { name: null, address: "a@b@Else.test" }, parseWarnings: [] };
  assert.equal(authOfShownFrom(UNCHECKED, odd).fromDomain, "else.test");
  assert.equal(domain("From: a@b\u00fccher.example"), "xn--bcher-kva.example");
  for (
    const header of [
      "Subject: x",
      "From: nobody",
      "From: a@x.test, b@x.test",
      "From: a@x.test\r\nFrom: a@x.test",
      "From: group: a@x.test, b@y.test;",
    ]
  ) {
    assert.deepEqual(authOfShownFrom(UNCHECKED, facts(header)), UNCHECKED, header);
  }
});

Deno.test("authOfShownFrom() keeps what was found for the From that is shown", () => {
  const checked = insideAuth("x.test");
  assert.equal(authOfShownFrom(checked, facts("From: a@X.test")), checked);
  const several: MailAuth = { ...UNCHECKED, dmarc: "permerror", verdict: "fail" };
  assert.equal(authOfShownFrom(several, facts("From: a@x.test, b@x.test")), several);
});

Deno.test("authOfShownFrom() lets nothing pass for a From that is not the one shown", () => {
  const failed = { ...insideAuth("x.test"), dmarc: "permerror", fromDomain: null, verdict: "fail" };
  for (const header of ["From: a@y.test", "From: a@x.test, b@x.test", "Subject: x"]) {
    assert.deepEqual(authOfShownFrom(insideAuth("x.test"), facts(header)), failed, header);
  }
});
