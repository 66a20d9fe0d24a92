import { nativeVerifier, type NativeVerify, type Subtle } from "./native_verify.ts";
import { pureVerify } from "./pure_verify.ts";
import { hasStrictKeyForm, hasStrictSignatureForm } from "./strict_signature.ts";

/**
 * Tells whether a signature is a key's over a message, by libsodium's rule. Key and R must be
 * canonically encoded and not of small order. S must be below the group order. The equation is the
 * cofactorless one.
 *
 * The answer is the same on every platform. The native verifier is used only after a form check and
 * a self-test; else the equation is computed here.
 *
 * @param message the signed bytes
 * @param signature 64 bytes
 * @param publicKey 32 bytes
 * @returns false for anything that does not verify
 * @throws {TypeError} for a signature or a key of another length
 * @see RFC 8032 5.1.7
 *
 * @example
 * ```ts
 * import { generateKeyPair, signRequest, verifySignature } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * const { privateKey, publicKey } = generateKeyPair();
 * const signed = signRequest(
 *   { method: "GET", path: "/v1/inbox", body: new Uint8Array(0), timestamp: 1760000000 },
 *   privateKey,
 * );
 * const message = new TextEncoder().encode(signed.canonicalString);
 * const signature = Uint8Array.from(atob(signed.signature), (c) => c.charCodeAt(0));
 * assert.equal(await verifySignature(message, signature, publicKey), true);
 * message.fill(0);
 * assert.equal(await verifySignature(message, signature, publicKey), false);
 * ```
 */
export function verifySignature(
  message: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
): Promise<boolean> {
  platformVerifier ??= signatureVerifier(globalThis.crypto?.subtle);
  return platformVerifier(message, signature, publicKey);
}

let platformVerifier: typeof verifySignature | undefined;

/**
 * Makes a {@linkcode verifySignature} on a given WebCrypto; its self-test runs once.
 *
 * @param subtle `crypto.subtle`, or undefined for the equation computed here
 */
export function signatureVerifier(subtle: Subtle | undefined): typeof verifySignature {
  let native: Promise<NativeVerify | undefined> | undefined;
  return async (message, signature, publicKey) => {
    // Both before either decides, so that a wrong length always throws.
    const keyForm = hasStrictKeyForm(publicKey);
    const signatureForm = hasStrictSignatureForm(signature);
    if (!keyForm || !signatureForm) return false;
    // Copies: what is checked must not change while it is being checked. Not slice(), which for
    // Node's Buffer is a view.
    const copies = [
      new Uint8Array(message),
      new Uint8Array(signature),
      new Uint8Array(publicKey),
    ] as const;
    const verify = await (native ??= nativeVerifier(subtle));
    if (verify === undefined) return pureVerify(...copies);
    try {
      return await verify(...copies);
    } catch {
      // Some platforms throw for a key that is no point; the equation knows.
      return pureVerify(...copies);
    }
  };
}
