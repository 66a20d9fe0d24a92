import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual as notEqual,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { generateKeyPair, keyPairFromHex } from "./generate_key_pair.ts";
import { signRequest } from "./sign_request.ts";

const REQUEST = {
  method: "POST",
  path: "/v1/messages",
  body: new TextEncoder().encode('{"body":1,"to":"some_agent"}'),
  timestamp: 1760000000,
};

Deno.test("signRequest() signs what node:crypto verifies", () => {
  const { privateKey, publicKey } = generateKeyPair();
  const { canonicalString, signature } = signRequest(REQUEST, privateKey);
  const x = btoa(String.fromCharCode(...publicKey)).replaceAll("+", "-").replaceAll("/", "_");
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: x.replace("=", "") },
    format: "jwk",
  });
  const bytes = Uint8Array.from(atob(signature), (c) => c.charCodeAt(0));
  equal(verify(null, new TextEncoder().encode(canonicalString), key, bytes), true);
});

Deno.test("signRequest() gives one signature for one request and timestamp", () => {
  const { privateKey } = generateKeyPair();
  deepEqual(signRequest(REQUEST, privateKey), signRequest(REQUEST, privateKey));
  const later = { ...REQUEST, timestamp: REQUEST.timestamp + 1 };
  notEqual(signRequest(REQUEST, privateKey).signature, signRequest(later, privateKey).signature);
});

Deno.test("signRequest() refuses a private key of another length", () => {
  for (const length of [0, 31, 33, 64]) {
    throws(() => signRequest(REQUEST, new Uint8Array(length)), { name: "TypeError" });
  }
});

Deno.test("generateKeyPair() makes another pair each time, which its hex restores", () => {
  const pair = generateKeyPair();
  notEqual(pair.address, generateKeyPair().address);
  match(pair.privateKeyHex, /^[0-9a-f]{64}$/);
  deepEqual(keyPairFromHex(pair.privateKeyHex), pair);
});

Deno.test("keyPairFromHex() refuses other texts and does not repeat them", () => {
  for (const text of ["", "ab".repeat(31), "AB".repeat(32), "ab".repeat(33), "zz".repeat(32)]) {
    throws(() => keyPairFromHex(text), (error: Error) => {
      equal(error.name, "TypeError");
      equal(text !== "" && error.message.includes(text), false);
      return true;
    });
  }
});
