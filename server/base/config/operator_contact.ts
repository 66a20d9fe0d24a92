/** Who answers for a relay, as its pages tell people. */
import { isAddress } from "./mail_config.ts";
import { ConfigError, type Environment, optionalText } from "./values.ts";

const VARIABLE = "RELAY_OPERATOR_CONTACT";
const MAX_CHARACTERS = 320;

/**
 * RELAY_OPERATOR_CONTACT: an e-mail address or the address of a page.
 * @returns the target of a link, "mailto:..." or "https://..."; undefined when unset
 * @throws ConfigError
 */
export function parseOperatorContact(env: Environment): string | undefined {
  const text = optionalText(env, VARIABLE);
  if (text === undefined) return undefined;
  // What stands behind a "?" would be further fields of the mail (RFC 6068, section 2).
  if (isAddress(text)) return `mailto:${encodeURIComponent(text).replace("%40", "@")}`;
  const isUrl = text.length <= MAX_CHARACTERS && /^https?:\/\//i.test(text) && URL.canParse(text);
  if (isUrl) return new URL(text).href;
  throw new ConfigError(
    VARIABLE,
    `must be an e-mail address, such as operator@example.org, or the https:// address of a page, of at most ${MAX_CHARACTERS} characters`,
  );
}
