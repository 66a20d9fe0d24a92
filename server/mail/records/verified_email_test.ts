import assert from "node:assert/strict";
import { type MailKey, PERMISSIONS } from "./key_record.ts";
import type { EmailProof } from "./org_record.ts";
import { signedInAtMs } from "./verified_email.ts";

const key = (name: string, createdAtMs: number, signIn = true): MailKey => ({
  id: "key_1",
  hash: "",
  name,
  prefix: "",
  scope: "org",
  inboxId: null,
  permissions: PERMISSIONS,
  createdAtMs,
  expiresAtMs: null,
  signIn,
});

Deno.test("signedInAtMs() goes by the proof, and where an older version noted none by a key of a link made since", () => {
  const claim: EmailProof = { by: "claim", atMs: 1_000 };
  const cases: [EmailProof | null, MailKey[], number | null][] = [
    [{ by: "sign_in", atMs: 1_000 }, [], 1_000],
    [claim, [], null],
    [null, [], null],
    [claim, [key("magic 2026-06-01", 1_001), key("magic 2026-06-01", 1_500)], 1_001],
    [null, [key("magic 2026-06-01", 5)], 5],
    // Of the owner before the claim, of an identity, and one that anybody named so.
    [claim, [key("magic 2026-06-01", 1_000)], null],
    [claim, [key("google 2026-06-01", 1_001)], null],
    [claim, [key("magic 2026-06-01", 1_001, false)], null],
  ];
  for (const [emailProof, keys, expected] of cases) {
    assert.equal(signedInAtMs({ emailProof }, keys), expected, JSON.stringify([emailProof, keys]));
  }
});
