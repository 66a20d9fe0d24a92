import { decodeAddress } from "../decode_address.ts";
import { normalHandle } from "../recipient.ts";

/** How an agent is named, in the normal spelling of that form. */
export interface Identifier {
  readonly form: "handle" | "word_name" | "address";
  readonly text: string;
}

const WORD_NAME = /^[A-Za-z]+(?:-[A-Za-z]+){2,}$/;

/**
 * Tells which of the three address forms a text has.
 *
 * @param text a handle (a leading `@` allowed), a word name or a base58 key
 * @throws {TypeError} when it has none
 * @see service specification 1 and 2.1
 */
export function parseIdentifier(text: string): Identifier {
  // No handle is as long as a key: both forms are told apart by their length alone.
  const handle = text.startsWith("@") || text.length <= 32 ? normalHandle(text) : undefined;
  if (handle !== undefined) return { form: "handle", text: handle };
  if (WORD_NAME.test(text)) return { form: "word_name", text: text.toLowerCase() };
  if (isAddress(text)) return { form: "address", text };
  throw new TypeError(
    "Cannot tell whom this names: it must be a handle (3 to 32 of a-z, 0-9 and _, a leading @ " +
      "allowed), a word name (adjective-color-animal) or an address (base58 of 32 bytes)",
  );
}

function isAddress(text: string): boolean {
  try {
    decodeAddress(text);
    return true;
  } catch {
    return false;
  }
}
