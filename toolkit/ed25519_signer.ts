import { getPublicKey, hashes, sign } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";

// The library's synchronous functions ask for their hash; this one needs no WebCrypto.
hashes.sha512 = sha512;

/** The public key of a 32-byte RFC 8032 seed. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return getPublicKey(seed);
}

/** The 64-byte signature over a message by a 32-byte RFC 8032 seed. */
export function signBytes(message: Uint8Array, seed: Uint8Array): Uint8Array {
  return sign(message, seed);
}
