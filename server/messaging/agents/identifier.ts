/** The three address forms, told apart by their letters alone (docs/verification.md). Pure. */

export type Identifier =
  | { form: "handle"; handle: string }
  | { form: "word-name"; wordName: string }
  | { form: "key"; address: string };

const HANDLE = /^[a-z0-9_]{3,32}$/;
/** Longer than any word name that a digest could lead to in practice; bounds the look-up key. */
const MAX_IDENTIFIER_LENGTH = 1_000;

/**
 * The form of an identifier, or null for text that no agent can have.
 * A leading `@` makes a handle, a hyphen a word name, up to 32 characters a handle, the rest a key.
 * Case matters in keys alone.
 */
export function readIdentifier(text: string): Identifier | null {
  if (text.length === 0 || text.length > MAX_IDENTIFIER_LENGTH) return null;
  if (text.startsWith("@")) return handleForm(text.slice(1));
  if (text.includes("-")) {
    const wordName = asciiLowercase(text);
    return /^[a-z]+(-[a-z]+){2,}$/.test(wordName) ? { form: "word-name", wordName } : null;
  }
  if (text.length <= 32) return handleForm(text);
  return text.length <= 44 ? { form: "key", address: text } : null;
}

function handleForm(text: string): Identifier | null {
  const handle = asciiLowercase(text);
  return HANDLE.test(handle) ? { form: "handle", handle } : null;
}

/** Lowercases A-Z alone: other letters have no place in handles and must not turn into ones that do. */
export function asciiLowercase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
