/**
 * The operator's custody keys, and encryption under them: AES-256-GCM with a fresh 96-bit nonce for
 * each secret. Additional data binds a secret to its agent. The first key encrypts, all of them
 * decrypt.
 */
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { Buffer } from "node:buffer";

/** A secret as the store holds it. */
export interface SealedSecret {
  /** Which custody key opens it: 16 hex digits. */
  keyId: string;
  /** 12 bytes, never used twice under one key. */
  nonce: Uint8Array;
  /** The ciphertext and the 16-byte tag behind it. */
  sealed: Uint8Array;
}

/** The secret names a custody key that this relay was not given. */
export class UnknownCustodyKey extends Error {
  override readonly name = "UnknownCustodyKey";
  constructor(readonly keyId: string) {
    super(`the custody key with id ${keyId} is not configured`);
  }
}

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 8;

export class KeyRing {
  readonly #keys = new Map<string, Uint8Array>();
  /** Id of the key that encrypts; null where there is none. */
  readonly primaryId: string | null;

  /**
   * @param keys 32 bytes each, the encrypting one first
   * @param random cryptographically random bytes, for nonces
   */
  constructor(
    keys: readonly Uint8Array[],
    private readonly random: (sizeBytes: number) => Uint8Array,
  ) {
    for (const key of keys) this.#keys.set(custodyKeyId(key), key);
    this.primaryId = keys.length === 0 ? null : custodyKeyId(keys[0]!);
  }

  /** Ids of all keys, the encrypting one first. */
  get ids(): string[] {
    return [...this.#keys.keys()];
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /**
   * Encrypts a secret under the first key.
   * @param boundTo additional data: the secret opens with the same bytes only
   * @throws Error when there is no key
   */
  seal(secret: Uint8Array, boundTo: Uint8Array): SealedSecret {
    if (this.primaryId === null) throw new Error("there is no custody key to encrypt with");
    const nonce = new Uint8Array(this.random(NONCE_BYTES));
    const cipher = createCipheriv(ALGORITHM, this.#keys.get(this.primaryId)!, nonce);
    cipher.setAAD(boundTo);
    const parts = [cipher.update(secret), cipher.final(), cipher.getAuthTag()];
    // A copy: the store would keep the whole pool behind a Buffer.
    return { keyId: this.primaryId, nonce, sealed: new Uint8Array(Buffer.concat(parts)) };
  }

  /**
   * Decrypts what seal() made.
   * @throws UnknownCustodyKey; Error when the bytes are not what was sealed for `boundTo`
   */
  open({ keyId, nonce, sealed }: SealedSecret, boundTo: Uint8Array): Uint8Array {
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new UnknownCustodyKey(keyId);
    const tagAt = sealed.length - TAG_BYTES;
    const decipher = createDecipheriv(ALGORITHM, key, nonce);
    decipher.setAAD(boundTo);
    decipher.setAuthTag(sealed.subarray(tagAt));
    const parts = [decipher.update(sealed.subarray(0, tagAt)), decipher.final()];
    return new Uint8Array(Buffer.concat(parts));
  }
}

/** An id that tells keys apart and reveals nothing of them: 16 hex digits of a labelled SHA-256. */
export function custodyKeyId(key: Uint8Array): string {
  if (key.length !== KEY_BYTES) throw new TypeError(`a custody key has ${KEY_BYTES} bytes`);
  const digest = createHash("sha256").update("relay custody key id:").update(key).digest();
  return digest.subarray(0, ID_BYTES).toString("hex");
}
