import { parseIdentifier } from "../client/identifier.ts";
import { InputError } from "./input_error.ts";

/**
 * A handle, word name or address given as an argument.
 *
 * @param argument what the help calls it
 * @throws {InputError} when it is none
 */
export function recipientName(argument: string, text: string): string {
  try {
    parseIdentifier(text);
    return text;
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new InputError(
      `${argument} must be a handle (3 to 32 of a-z, 0-9 and _), a word name ` +
        `(adjective-color-animal) or an address, not '${text}'`,
      "usage",
    );
  }
}
