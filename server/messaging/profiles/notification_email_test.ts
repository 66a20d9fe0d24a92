import assert from "node:assert/strict";
import { cleanNotificationEmail } from "./notification_email.ts";

Deno.test("cleanNotificationEmail() takes addresses, trimmed and otherwise as they are, and null", () => {
  assert.equal(cleanNotificationEmail(null), null);
  const longest = `${"l".repeat(64)}@${"d".repeat(63)}.${"e".repeat(63)}.${"f".repeat(63)}.${
    "g".repeat(63)
  }`;
  assert.equal(longest.length, 320);
  for (
    const address of ["a@b.c", "Some.One+tag@Sub.Example.ORG", "o!#$%&*=?^`{|}~/@x-1.de", longest]
  ) {
    assert.equal(cleanNotificationEmail(`\t ${address}\n`), address);
  }
});

Deno.test("cleanNotificationEmail() refuses everything else as invalid_json that names the field", () => {
  const bad = [
    undefined,
    1,
    true,
    {},
    ["a@b.c"],
    "",
    "  ",
    "a@b",
    "ab.c",
    "@b.c",
    "a@",
    "a@b.",
    "a@.c",
    "a@b..c",
    "a@b@c.d",
    "a b@c.d",
    "a,b@c.d",
    '"a"@c.d',
    "<a@b.c>",
    "é@b.c",
    "a@é.fr",
    "a@b_c.de",
    "a\u0000@b.c",
    "a\r\nBcc: x@y.z",
    `${"l".repeat(65)}@b.c`,
    `a@${"d".repeat(64)}.c`,
    `a@${`${"d".repeat(60)}.`.repeat(6)}c`,
  ];
  for (const given of bad) {
    assert.throws(() => cleanNotificationEmail(given), {
      code: "invalid_json",
      message: /notification_email/,
    }, String(given));
  }
});
