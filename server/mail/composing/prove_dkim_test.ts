import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { dkimKey } from "../../../tests/support/outgoing_mail.ts";
import { ConfigError } from "../../base/config/config.ts";
import { proveDkim } from "./prove_dkim.ts";

Deno.test("proveDkim() is content with a key that signs", async () => {
  await proveDkim(dkimKey());
});

Deno.test("proveDkim() refuses what cannot sign, and tells nothing of the key", async () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const ed25519 = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const { privateKeyPem } = dkimKey();
  const bad = [
    { ...dkimKey(), privateKeyPem: ed25519 },
    { ...dkimKey(), privateKeyPem: privateKeyPem.slice(0, 900) },
    { ...dkimKey(), privateKeyPem: "nonsense" },
    { ...dkimKey(), selector: "a b" },
    { ...dkimKey(), selector: "a; d=evil.example" },
    { ...dkimKey(), domain: "" },
  ];
  assert.equal(bad.length, 6);
  for (const key of bad) {
    await assert.rejects(proveDkim(key), (error) => {
      assert(error instanceof ConfigError);
      assert.equal(error.variable, "RELAY_MAIL_DKIM_KEY");
      assert.doesNotMatch(error.message, /nonsense|BEGIN|MII/);
      return true;
    });
  }
});
