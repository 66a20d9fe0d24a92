import assert from "node:assert/strict";
import {
  checkMtaSts,
  checkPolicy,
  checkReverse,
  checkTlsReports,
  policyLines,
  reverseName,
} from "./transport_records.ts";

Deno.test("checkMtaSts() and checkTlsReports() want one record of the form", () => {
  assert.equal(checkMtaSts(["other", "v=STSv1; id=20261123"]).state, "fine");
  assert.equal(checkMtaSts(["v=STSv1;id=1;"]).state, "fine");
  assert.equal(checkMtaSts(["v=STSv10; id=1"]).state, "missing");
  assert.equal(checkMtaSts(["v=STSv1; id=a-b"]).state, "differs");
  assert.equal(checkMtaSts(["v=STSv1; id=1", "v=STSv1; id=2"]).state, "differs");
  assert.equal(checkTlsReports(["v=TLSRPTv1; rua=mailto:a@b.example"]).state, "fine");
  assert.equal(checkTlsReports(["v=TLSRPTv1;rua=https://b.example/r"]).state, "fine");
  assert.equal(checkTlsReports(["v=TLSRPTv1; rua=a@b.example"]).state, "differs");
  assert.equal(checkTlsReports([]).state, "missing");
});

Deno.test("checkPolicy() wants a policy by which mail reaches all who take it", () => {
  const hosts = ["mx1.example.org", "mx2.example.org"];
  const printed = policyLines(hosts).join("\r\n");
  assert.equal(checkPolicy(printed, hosts).state, "fine");
  const cases: [policy: string, words: RegExp][] = [
    ["<html>", /STSv1/],
    [printed.replace("testing", "maybe"), /mode/],
    [printed.replace("max_age: 86400", ""), /max_age/],
    [printed.replace("mx: mx2.example.org", "mx: mx3.example.org"), /leave out mx2\.example\.org/],
    [printed.replaceAll(/mx: .*/g, "mx: *.sub.example.org"), /leave out mx1/],
  ];
  for (const [policy, words] of cases) {
    const { state, why } = checkPolicy(policy, hosts);
    assert.equal(state, "differs");
    assert.match(why!, words);
  }
  const star = "version: STSv1\nmode: enforce\nmax_age: 604800\nmx: *.Example.org\n";
  assert.equal(checkPolicy(star, hosts).state, "fine");
  assert.equal(checkPolicy(star, ["a.b.example.org"]).state, "differs");
  assert.equal(checkPolicy("version: STSv1\nmode: none\nmax_age: 1", hosts).state, "fine");
});

Deno.test("checkReverse() wants a name that leads back, in whatever spelling", () => {
  assert.equal(reverseName("192.0.2.25"), "25.2.0.192.in-addr.arpa");
  assert.equal(
    reverseName("2001:db8::567:89ab"),
    "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
  );
  assert.equal(reverseName("mx.example.org"), null);
  assert.equal(checkReverse("192.0.2.25", [], []).state, "missing");
  assert.equal(checkReverse("192.0.2.25", ["a.example"], ["192.0.2.26"]).state, "differs");
  assert.equal(checkReverse("2001:db8::1", ["a.example"], ["2001:db8:0:0::1"]).state, "fine");
});
