import assert from "node:assert/strict";
import { authOfShownFrom, insideAuth, UNCHECKED } from "./fixed_auth.ts";

const from = (address: string) => ({ name: null, address });

Deno.test("authOfShownFrom() fails where another domain was checked than is shown", () => {
  const auth = insideAuth("example.org");
  assert.equal(authOfShownFrom(auth, from("a@Example.org")), auth);
  for (const shown of [from("a@evil.example"), from("a@mail.example.org"), from("nobody"), null]) {
    assert.deepEqual(authOfShownFrom(auth, shown), {
      ...auth,
      dmarc: "permerror",
      fromDomain: null,
      verdict: "fail",
    });
  }
});

Deno.test("authOfShownFrom() names the domain of what was not checked", () => {
  assert.deepEqual(authOfShownFrom(UNCHECKED, from("a@b@Else.test")).fromDomain, "else.test");
  assert.equal(authOfShownFrom(UNCHECKED, null).fromDomain, null);
  assert.equal(authOfShownFrom(UNCHECKED, from("a@b.c")).verdict, "none");
});
