import { base58 } from "@scure/base";
import { AddressError } from "./address_error.ts";
import { MAX_ADDRESS_LENGTH, MIN_ADDRESS_LENGTH, PUBLIC_KEY_BYTES } from "./encode_address.ts";

/**
 * Reads the public key from an address. Whether the key is a point that may sign is another
 * question: {@linkcode isStrictPublicKey}.
 *
 * @param address 33 to 44 base58 characters, case matters
 * @returns the 32 bytes of the public key
 * @throws {AddressError} `wrong_length`, `not_base58` or `not_32_bytes`
 * @see service specification 2.1
 *
 * @example
 * ```ts
 * import { decodeAddress } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.equal(decodeAddress("FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z").length, 32);
 * assert.throws(() => decodeAddress("some_handle"), { code: "wrong_length" });
 * ```
 */
export function decodeAddress(address: string): Uint8Array {
  // Before anything else: decoding base58 takes time that grows with the square of the length.
  if (address.length < MIN_ADDRESS_LENGTH || address.length > MAX_ADDRESS_LENGTH) {
    throw new AddressError(
      "wrong_length",
      `an address has ${MIN_ADDRESS_LENGTH} to ${MAX_ADDRESS_LENGTH} characters, not ${address.length}`,
    );
  }
  const publicKey = decodeBase58(address);
  if (publicKey.length !== PUBLIC_KEY_BYTES) {
    throw new AddressError(
      "not_32_bytes",
      `an address is the base58 text of 32 bytes, not of ${publicKey.length}`,
    );
  }
  return publicKey;
}

function decodeBase58(text: string): Uint8Array {
  try {
    return base58.decode(text);
  } catch {
    throw new AddressError(
      "not_base58",
      "an address uses the base58 alphabet: digits and letters without 0, O, I and l",
    );
  }
}
