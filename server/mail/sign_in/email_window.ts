/** How many mails with links an e-mail address gets in an hour, from all who ask (specification, 8). */
import { mailboxAddress } from "../../base/mailer/mailbox_address.ts";
import { rateLimited } from "../../base/errors.ts";
import { hashClientAddress } from "../../base/http/callers/client_address.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { defineWindow, stageWindow } from "../../base/storage/commits/window_record.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";

const emailWindow = defineWindow<[mailboxHash: string]>("mail-magic-email", {
  holds: "links in mails to an e-mail address without its tag",
  expires: "1 h",
});

/**
 * Counts one more mail with a sign-in or claim link.
 * @param addressKey secret under which addresses are hashed that limits count, 32 bytes
 * @throws RelayError `rate_limited`
 */
export function stageEmailWindow(
  transaction: Transaction,
  email: string,
  { addressKey, limits }: { addressKey: Uint8Array; limits: Limits },
): void {
  const hash = hashClientAddress(addressKey, `mailbox\n${mailboxAddress(email)}`);
  const rule = { limit: limits.mailMagicPerEmailPerHour, windowMs: HOUR_MS };
  stageWindow(transaction, emailWindow(hash), rule, (waitMs) =>
    rateLimited(
      `at most ${rule.limit} sign-in links an hour to one e-mail address, links of claims counted; those sent before work for an hour`,
      waitMs,
    ));
}
