/** Keeps a caller from giving its credential away: a model may be talked into quoting it. Pure. */

/**
 * An escape of JSON, of JSON inside JSON too; no other one can stand for a character of a token. It
 * begins where a run of backslashes begins, so that a long run is read once.
 */
const ESCAPE = /(?<!\\)\\+u([0-9a-fA-F]{4})/g;

/** Whether text holds one of the secrets, as it is or in JSON's escapes. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  if (secrets.length === 0) return false;
  const plain = text.replaceAll(
    ESCAPE,
    (_, digits: string) => String.fromCharCode(parseInt(digits, 16)),
  );
  return secrets.some((secret) => text.includes(secret) || plain.includes(secret));
}
