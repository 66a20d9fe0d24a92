import { scryptSync } from "node:crypto";
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import type { KeyPair } from "../generate_key_pair.ts";
import { keyPairFromHex } from "../generate_key_pair.ts";
import type { JsonObject, JsonValue } from "../json_value.ts";

/** A private key that only a passphrase opens, as the key file holds it. */
export interface LockedKey {
  /** scrypt (RFC 7914) with N = 2^log_n, r = 8, p = 1; XChaCha20-Poly1305; the address is bound in. */
  readonly scheme: "scrypt-xchacha20-poly1305";
  readonly log_n: number;
  /** Base64 of 16 bytes. */
  readonly salt: string;
  /** Base64 of 24 bytes. */
  readonly nonce: string;
  /** Base64 of the 32 bytes of the seed, encrypted, and the 16 of the tag. */
  readonly ciphertext: string;
}

const SCHEME = "scrypt-xchacha20-poly1305";
/** 128 MiB and about half a second a guess. */
const LOG_N = 17;
/** A file must not make its reader take 1 GiB. */
const MAX_LOG_N = 20;
const BYTES = { salt: 16, nonce: 24, ciphertext: 48 };

/**
 * Locks a private key with a passphrase.
 *
 * @param logN the cost of a guess, as a power of two
 */
export function lockKey(
  { address, privateKeyHex }: KeyPair,
  passphrase: string,
  logN = LOG_N,
): LockedKey {
  const salt = crypto.getRandomValues(new Uint8Array(BYTES.salt));
  const nonce = crypto.getRandomValues(new Uint8Array(BYTES.nonce));
  const key = stretch(passphrase, salt, logN);
  const sealed = xchacha20poly1305(key, nonce, utf8ToBytes(address))
    .encrypt(hexToBytes(privateKeyHex));
  return {
    scheme: SCHEME,
    log_n: logN,
    salt: base64.encode(salt),
    nonce: base64.encode(nonce),
    ciphertext: base64.encode(sealed),
  };
}

/**
 * Opens a locked private key.
 *
 * @param address what the key file says
 * @returns undefined for another passphrase, or a file that was changed
 */
export function unlockKey(
  locked: LockedKey,
  address: string,
  passphrase: string,
): KeyPair | undefined {
  const key = stretch(passphrase, base64.decode(locked.salt), locked.log_n);
  const nonce = base64.decode(locked.nonce);
  try {
    const seed = xchacha20poly1305(key, nonce, utf8ToBytes(address))
      .decrypt(base64.decode(locked.ciphertext));
    const keys = keyPairFromHex(bytesToHex(seed));
    return keys.address === address ? keys : undefined;
  } catch {
    // The library's only failure here: the tag does not fit.
    return undefined;
  }
}

/** Reads a locked key from parsed JSON; undefined when it is none. */
export function readLockedKey(value: JsonValue | undefined): LockedKey | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const object: JsonObject = value;
  const { scheme, log_n } = object;
  if (scheme !== SCHEME || typeof log_n !== "number" || !Number.isInteger(log_n)) return undefined;
  if (log_n < 1 || log_n > MAX_LOG_N) return undefined;
  const texts = { salt: "", nonce: "", ciphertext: "" };
  for (const name of ["salt", "nonce", "ciphertext"] as const) {
    const text = object[name];
    if (typeof text !== "string" || byteLength(text) !== BYTES[name]) return undefined;
    texts[name] = text;
  }
  return { scheme, log_n, ...texts };
}

function byteLength(text: string): number | undefined {
  try {
    return base64.decode(text).length;
  } catch {
    return undefined;
  }
}

/** Keyboards compose letters differently: equal text is an equal passphrase. */
function stretch(passphrase: string, salt: Uint8Array, logN: number): Uint8Array {
  const password = utf8ToBytes(passphrase.normalize("NFKC"));
  // The platform's own scrypt: an attacker's is no faster.
  const options = { N: 2 ** logN, r: 8, p: 1, maxmem: 2 ** (logN + 11) + 2 ** 20 };
  return new Uint8Array(scryptSync(password, salt, 32, options));
}
