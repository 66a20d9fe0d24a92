import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { RelayError } from "../../base/errors.ts";
import { cleanEmail, refuseOwnDomain } from "./email_address.ts";

const refuses = (run: () => void) =>
  assert.throws(run, (error: Error) => {
    assert.ok(error instanceof RelayError, String(error));
    assert.equal(error.code, "invalid_email");
    return true;
  });

Deno.test("cleanEmail() lowercases, keeps dots and tags, and stores names as A-labels", () => {
  const cases: [string, string][] = [
    ["A.B+Tag@Example.ORG", "a.b+tag@example.org"],
    ["!#$%&'*+/=?^_`{|}~-@x.y", "!#$%&'*+/=?^_`{|}~-@x.y"],
    ["a@ÖBB.example", "a@xn--bb-eka.example"],
    ["a@例え.テスト", "a@xn--r8jz45g.xn--zckzah"],
    ["a@example。org", "a@example.org"],
    ["a@xn--bcher-kva.example", "a@xn--bcher-kva.example"],
    [`${"a".repeat(64)}@x.org`, `${"a".repeat(64)}@x.org`],
  ];
  for (const [given, clean] of cases) assert.equal(cleanEmail("email", given), clean);
});

Deno.test("cleanEmail() counts 254 characters in all, 64 before the @, of A-labels", () => {
  const label = "b".repeat(63);
  const domain = `${label}.${label}.${"b".repeat(59)}.co`;
  const room = 254 - 1 - domain.length;
  assert.equal(room, 63);
  assert.equal(cleanEmail("email", `${"a".repeat(room)}@${domain}`).length, 254);
  refuses(() => cleanEmail("email", `${"a".repeat(room + 1)}@${domain}`));
  refuses(() => cleanEmail("email", `${"a".repeat(65)}@x.org`));
  refuses(() => cleanEmail("email", `a@${"b".repeat(64)}.org`));
});

Deno.test("cleanEmail() gives one plain address or refuses, whatever it is given", () => {
  fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.emailAddress()), (given) => {
    let clean: string;
    try {
      clean = cleanEmail("email", given);
    } catch (error) {
      assert.equal((error as RelayError).code, "invalid_email");
      return;
    }
    assert.match(clean, /^[a-z0-9!#$%&'*+./=?^_`{|}~-]{1,64}@[a-z0-9.-]+\.[a-z0-9-]+$/);
    assert.equal(cleanEmail("email", clean), clean);
  }));
});

Deno.test("refuseOwnDomain() refuses the very domain of the relay's inboxes", () => {
  refuses(() => refuseOwnDomain("email", "a@agents.test", "agents.test"));
  for (const domain of ["x.agents.test", "xagents.test", "agents.test.org"]) {
    refuseOwnDomain("email", `a@${domain}`, "agents.test");
  }
});
