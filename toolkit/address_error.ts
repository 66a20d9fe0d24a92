/**
 * Why a string is no address, or a key has none:
 *
 * - `wrong_length`: not 33 to 44 characters
 * - `not_base58`: a character outside the base58 alphabet
 * - `not_32_bytes`: base58 of more or fewer than 32 bytes
 */
export type AddressErrorCode = "wrong_length" | "not_base58" | "not_32_bytes";

/** Thrown for a string that is no address; the message says what an address is. */
export class AddressError extends Error {
  override readonly name = "AddressError";
  readonly code: AddressErrorCode;

  constructor(code: AddressErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
