/** How many mails with links an e-mail address gets in an hour, from all who ask (specification, 8). */
import { mailboxAddress } from "../../base/mailer/mailbox_address.ts";
import { rateLimited } from "../../base/errors.ts";
import type { ClientAddresses } from "../../base/http/callers/client_address.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { stageWindow, windowKey } from "../../base/storage/commits/window_record.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";

/**
 * Counts one more mail with a sign-in or claim link.
 * @throws RelayError `rate_limited`
 */
export function stageEmailWindow(
  transaction: Transaction,
  email: string,
  { clients, limits }: { clients: ClientAddresses; limits: Limits },
): void {
  const hash = clients.hash(`mailbox\n${mailboxAddress(email)}`);
  const rule = { limit: limits.mailMagicPerEmailPerHour, windowMs: HOUR_MS };
  stageWindow(transaction, windowKey("mail-magic-email", hash), rule, (waitMs) =>
    rateLimited(
      `at most ${rule.limit} sign-in links an hour to one e-mail address, links of claims counted; those sent before work for an hour`,
      waitMs,
    ));
}
