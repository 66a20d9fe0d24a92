import { verify as cofactoredVerify } from "@noble/ed25519";
import { Buffer } from "node:buffer";
import { rejects, strictEqual as equal } from "node:assert/strict";
import { generateKeyPair } from "./generate_key_pair.ts";
import { signBytes } from "./ed25519_signer.ts";
import { nativeVerifier, type Subtle } from "./native_verify.ts";
import { signatureVerifier, verifySignature } from "./verify_signature.ts";

const MESSAGE = new TextEncoder().encode("message");
const KEYS = generateKeyPair();
const SIGNATURE = signBytes(MESSAGE, KEYS.privateKey);

/** A WebCrypto whose key is the raw bytes and whose verifier is given. */
function subtle(
  verify: (signature: Uint8Array, message: Uint8Array, key: Uint8Array) => boolean,
): Subtle & { calls: number } {
  const fake = {
    calls: 0,
    importKey: (_format: string, key: Uint8Array) => Promise.resolve(key),
    verify: (_name: string, key: Uint8Array, signature: Uint8Array, message: Uint8Array) => {
      fake.calls++;
      return Promise.resolve().then(() => verify(signature, message, key));
    },
  };
  return fake as unknown as Subtle & { calls: number };
}

Deno.test("nativeVerifier() takes this platform's WebCrypto", async () => {
  const verify = await nativeVerifier(crypto.subtle);
  equal(await verify?.(MESSAGE, SIGNATURE.slice(), KEYS.publicKey.slice()), true);
});

Deno.test("nativeVerifier() refuses a verifier that multiplies by the cofactor", async () => {
  equal(await nativeVerifier(subtle((s, m, k) => cofactoredVerify(s, m, k))), undefined);
});

Deno.test("nativeVerifier() refuses one that accepts, refuses or throws always, and none at all", async () => {
  equal(await nativeVerifier(subtle(() => true)), undefined);
  equal(await nativeVerifier(subtle(() => false)), undefined);
  const unsupported = subtle(() => {
    throw new DOMException("unknown algorithm", "NotSupportedError");
  });
  equal(await nativeVerifier(unsupported), undefined);
  equal(await nativeVerifier(undefined), undefined);
});

Deno.test("signatureVerifier() computes by itself when the platform failed its self-test", async () => {
  const fake = subtle(() => true);
  const verify = signatureVerifier(fake);
  equal(await verify(MESSAGE, SIGNATURE, KEYS.publicKey), true);
  equal(await verify(MESSAGE.slice(1), SIGNATURE, KEYS.publicKey), false);
  equal(fake.calls, 2, "the self-test alone, and once");
});

Deno.test("signatureVerifier() computes by itself when the platform throws later", async () => {
  const native = await nativeVerifier(crypto.subtle);
  equal(native === undefined, false);
  let calls = 0;
  const failing = {
    importKey: crypto.subtle.importKey.bind(crypto.subtle),
    verify: (...args: Parameters<SubtleCrypto["verify"]>) =>
      ++calls > 3 ? Promise.reject(new Error("busy")) : crypto.subtle.verify(...args),
  } as Subtle;
  const verify = signatureVerifier(failing);
  equal(await verify(MESSAGE, SIGNATURE, KEYS.publicKey), true);
  equal(calls, 4);
});

Deno.test("signatureVerifier() asks no verifier about a signature of wrong form", async () => {
  const fake = subtle(() => true);
  const verify = signatureVerifier(fake);
  equal(await verify(MESSAGE, new Uint8Array(64).fill(255), KEYS.publicKey), false);
  equal(await verify(MESSAGE, SIGNATURE, new Uint8Array(32)), false);
  equal(fake.calls, 0);
});

Deno.test("verifySignature() is not moved by changes made while it works", async () => {
  for (const verify of [verifySignature, signatureVerifier(undefined)]) {
    for (const copy of [Uint8Array, Buffer] as const) {
      const [message, signature, key] = [MESSAGE, SIGNATURE, KEYS.publicKey]
        .map((bytes) => copy.from(bytes));
      const answer = verify(message!, signature!, key!);
      for (const bytes of [message!, signature!, key!]) bytes.fill(0);
      equal(await answer, true);
    }
  }
});

Deno.test("verifySignature() throws TypeError for other lengths, whatever the other argument is", async () => {
  const badKey = new Uint8Array(32);
  await rejects(verifySignature(MESSAGE, new Uint8Array(63), badKey), TypeError);
  await rejects(verifySignature(MESSAGE, SIGNATURE, new Uint8Array(31)), TypeError);
  await rejects(verifySignature(MESSAGE, SIGNATURE.slice(0, 32), KEYS.publicKey), TypeError);
});
