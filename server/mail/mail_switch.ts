/** Whether the mail area is on (docs/operations.md, "Local mode"). Pure. */
import type { Config } from "../base/config/config.ts";
import type { KeyRing } from "../base/sealing/key_ring.ts";

/**
 * Why mail is off, in words for the operator; null where it is on.
 * @param ring the custody keys, under which the area's secrets are sealed
 * @param missingCustodyKey id of the custody key that opens the area's secret, where it is not configured
 */
export function whyMailIsOff(
  { mail, hosted }: Pick<Config, "mail" | "hosted">,
  ring: Pick<KeyRing, "primaryId">,
  missingCustodyKey: string | null = null,
): string | null {
  const missing = [
    ...(mail.smtp === undefined && !mail.local ? ["RELAY_SMTP_URL"] : []),
    ...(mail.from === undefined ? ["RELAY_MAIL_FROM"] : []),
    ...(mail.domain === undefined ? ["RELAY_MAIL_DOMAIN"] : []),
  ];
  if (missing.length > 0) {
    return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} unset`;
  }
  if (missingCustodyKey !== null) {
    return `its secret is encrypted under custody key ${missingCustodyKey}, which is not configured (RELAY_CUSTODY_KEY)`;
  }
  if (ring.primaryId !== null) return null;
  return hosted
    ? "a hosted relay needs RELAY_CUSTODY_KEY for it"
    : "no custody key is configured, and the store was written under another (see custody)";
}
