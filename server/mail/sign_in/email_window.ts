/** How many mails with links an e-mail address gets in an hour, from all who ask (specification, 8). */
import { mailboxAddress } from "../../digest/mailbox_address.ts";
import { rateLimited } from "../../errors.ts";
import { hashClientAddress } from "../../http/client_address.ts";
import type { Limits } from "../../limits.ts";
import type { Turn } from "../../storage/job.ts";
import { stageWindow, windowKey } from "../../storage/window_record.ts";
import { HOUR_MS } from "../../time_units.ts";

/**
 * Counts one more mail with a sign-in or claim link.
 * @param addressKey secret under which addresses are hashed that limits count, 32 bytes
 * @throws RelayError `rate_limited`
 */
export function stageEmailWindow(
  turn: Turn,
  email: string,
  { addressKey, limits }: { addressKey: Uint8Array; limits: Limits },
): void {
  const hash = hashClientAddress(addressKey, `mailbox\n${mailboxAddress(email)}`);
  const rule = { limit: limits.mailMagicPerEmailPerHour, windowMs: HOUR_MS };
  stageWindow(turn, windowKey("mail-magic-email", hash), rule, (waitMs) =>
    rateLimited(
      `at most ${rule.limit} sign-in links an hour to one e-mail address, links of claims counted; those sent before work for an hour`,
      waitMs,
    ));
}
