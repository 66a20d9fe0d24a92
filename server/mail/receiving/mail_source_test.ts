import assert from "node:assert/strict";
import { mailSource } from "./mail_source.ts";

Deno.test("mailSource() is the client, and without one the domain of the envelope sender", () => {
  const cases: [clientIp: string | null, from: string, source: string][] = [
    ["192.0.2.1", "a@b.example", "192.0.2.1"],
    ["::ffff:192.0.2.1", "", "192.0.2.1"],
    [null, "a@B.Example", "@b.example"],
    [null, "", "@"],
    [null, "192.0.2.1", "@192.0.2.1"],
  ];
  for (const [clientIp, from, source] of cases) {
    assert.equal(mailSource({ clientIp, from }), source, `${clientIp} ${from}`);
  }
  // The holder of a /64 has one place, not 2^64.
  const [one, other] = ["2001:db8::1", "2001:DB8:0::2"].map((clientIp) =>
    mailSource({ clientIp, from: "" })
  );
  assert.equal(one, other);
});
