import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { generateKeyPair } from "../generate_key_pair.ts";
import { registerForMail } from "./register_for_mail.ts";

const MADE = {
  org_id: "org_1",
  agent_id: 7,
  api_key: "rm_sk_x",
  key_prefix: "rm_sk_x",
  trial: true,
  expires_in_hours: 24,
  note: "receive-only",
};

Deno.test("registerForMail() signs the key and the second, and gives what the contract says", async () => {
  const keys = generateKeyPair();
  let request: { [name: string]: string | number } = {};
  const options = {
    relay: "https://relay.example",
    keys,
    clock: { now: () => 1_760_000_000_999, after: () => () => {} },
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      assert.equal(String(input), "https://relay.example/v1/mail/agents/register");
      request = JSON.parse(new TextDecoder().decode(init!.body as Uint8Array<ArrayBuffer>));
      return Promise.resolve(Response.json({ ...MADE, more: 1 }, { status: 201 }));
    },
  };
  assert.deepEqual(await registerForMail(options, "my agent"), MADE);
  const { signature, ...rest } = request;
  assert.deepEqual(rest, { public_key: keys.address, timestamp: 1760000000, label: "my agent" });
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: base64Url(keys.publicKey) },
    format: "jwk",
  });
  const signed = new TextEncoder().encode(`relay-mail:register:${keys.address}:1760000000`);
  const bytes = Uint8Array.from(atob(signature as string), (c) => c.charCodeAt(0));
  assert.equal(verify(null, signed, key, bytes), true);
  await registerForMail(options);
  assert.equal("label" in request, false);
});

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_")
    .replaceAll("=", "");
}
