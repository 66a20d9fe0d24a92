import { decodeAddress } from "../decode_address.ts";
import { isWordNameOf } from "../is_word_name_of.ts";

/**
 * A word name beside its key, for people; says so where the key cannot have that name, which a relay
 * may claim all the same.
 *
 * @param address the key, as the relay gives it
 */
export function nameAndKey(wordName: string, address: string): string {
  return derives(wordName, address)
    ? `${wordName}, ${address}`
    : `${wordName} IS NO NAME OF ${address}`;
}

function derives(wordName: string, address: string): boolean {
  try {
    return isWordNameOf(wordName, decodeAddress(address));
  } catch {
    // What is no address has no name.
    return false;
  }
}
