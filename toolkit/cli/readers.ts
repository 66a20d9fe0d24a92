import { parseIdentifier } from "../client/identifier.ts";
import { decodeAddress } from "../decode_address.ts";
import { UsageError } from "./failure.ts";
import type { Reader } from "./verb.ts";

/** Reads a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  return (text, label) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new UsageError(`${label} takes a whole number ${range}, not '${text}'`);
  };
}

/** Reads a handle, word name or address, and leaves it as it is written. */
export const agentName: Reader<string> = (text, label) => {
  try {
    parseIdentifier(text);
    return text;
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new UsageError(
      `${label} must be a handle (3 to 32 of a-z, 0-9 and _), a word name ` +
        `(adjective-color-animal) or an address, not '${text}'`,
    );
  }
};

/** Reads an address. */
export const address: Reader<string> = (text, label) => {
  try {
    decodeAddress(text);
    return text;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "no address";
    throw new UsageError(`${label}: ${why}`);
  }
};
