/** What a notification e-mail address may be (specification, 4.2; docs/digest.md). Pure. */
import { invalidJson } from "../../base/errors.ts";

const MIN_LENGTH = 3;
const MAX_LENGTH = 320;
/** Printable ASCII but space, quote, comma, angle brackets and @. */
const LOCAL_PART = /^[!#-+\--;=?A-~]{1,64}$/;
const DOMAIN = /^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+$/;

/**
 * The trimmed address, or null, which clears it.
 * @param given the value of the field
 * @throws RelayError `invalid_json`
 */
export function cleanNotificationEmail(given: unknown): string | null {
  if (given === null) return null;
  if (typeof given !== "string") {
    throw invalidJson("notification_email must be a string, or null to clear it");
  }
  const address = given.trim();
  const [localPart, domain, ...rest] = address.split("@");
  const fits = address.length >= MIN_LENGTH && address.length <= MAX_LENGTH &&
    rest.length === 0 && LOCAL_PART.test(localPart!) && DOMAIN.test(domain ?? "");
  if (fits) return address;
  throw invalidJson(
    `notification_email must be one address such as name@example.org, at most ${MAX_LENGTH} characters of printable ASCII without spaces, quotes, commas or <>; null clears it`,
  );
}
