import assert from "node:assert/strict";
import { includesRange, parseIpRange } from "./ip_range.ts";

Deno.test("parseIpRange() reads addresses and networks, in every spelling", () => {
  const same: [string, string][] = [
    ["192.0.2.7", "192.0.2.7/32"],
    ["192.0.2.7/24", "192.0.2.0/24"],
    ["2001:DB8::1", "2001:db8:0:0:0:0:0:1"],
    ["::", "0:0:0:0:0:0:0:0/128"],
    ["::ffff:192.0.2.1", "::ffff:c000:201"],
    ["2001:db8::5/32", "2001:db8::/32"],
  ];
  for (const [one, other] of same) assert.deepEqual(parseIpRange(one), parseIpRange(other));
  assert.deepEqual(parseIpRange("192.0.2.1"), {
    version: 4,
    first: 0xc0000201n,
    last: 0xc0000201n,
  });
  assert.equal(parseIpRange("::1")!.first, 1n);
  assert.equal(parseIpRange("0.0.0.0/0")!.last, 0xffffffffn);
});

Deno.test("parseIpRange() is null for what is no address", () => {
  const texts = ["", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.4/33", "::/129", ":::"]
    .concat([
      "1.2.3.4/",
      "1.2.3.4/+8",
      "example.org",
      "[::1]",
      "1::2::3",
      "fe80::1%eth0",
      "1.2.3.4/08",
    ]);
  assert.equal(texts.length, 15);
  for (const text of texts) assert.equal(parseIpRange(text), null, text);
});

Deno.test("includesRange() holds for what lies wholly inside, of the same kind", () => {
  const includes = (outer: string, inner: string) =>
    includesRange(parseIpRange(outer)!, parseIpRange(inner)!);
  assert.ok(includes("192.0.2.0/24", "192.0.2.255"));
  assert.ok(includes("2001:db8::/32", "2001:db8:ffff::/48"));
  assert.ok(!includes("192.0.2.0/25", "192.0.2.128"));
  assert.ok(!includes("192.0.2.0/24", "192.0.0.0/16"));
  assert.ok(!includes("::/0", "192.0.2.1"));
});
