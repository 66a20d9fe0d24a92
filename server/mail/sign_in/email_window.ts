/** How many mails with links an e-mail address gets in an hour, whoever asks for them (specification, 8; mail page, "Orgs and the ways in"). */
import { mailboxAddress } from "../../digest/mailbox_address.ts";
import { rateLimited } from "../../errors.ts";
import { hashClientAddress } from "../../http/client_address.ts";
import type { Limits } from "../../limits.ts";
import type { Turn } from "../../storage/job.ts";
import type { RecordKey } from "../../storage/record_key.ts";
import { stageWindow, windowKey, type WindowRecord } from "../../storage/window_record.ts";
import { HOUR_MS } from "../../time_units.ts";

/** @param addressKey secret under which addresses are hashed that limits count, 32 bytes */
export function emailWindowKey(addressKey: Uint8Array, email: string): RecordKey<WindowRecord> {
  const hash = hashClientAddress(addressKey, `mailbox\n${mailboxAddress(email)}`);
  return windowKey("mail-magic-email", hash);
}

/** Counts one more mail with a sign-in or claim link. @throws RelayError `rate_limited` */
export function stageEmailWindow(
  turn: Turn,
  key: RecordKey<WindowRecord>,
  { mailMagicPerEmailPerHour: limit }: Pick<Limits, "mailMagicPerEmailPerHour">,
): void {
  stageWindow(turn, key, { limit, windowMs: HOUR_MS }, (waitMs) =>
    rateLimited(
      `at most ${limit} sign-in links an hour to one e-mail address, links of claims counted; those sent before work for an hour`,
      waitMs,
    ));
}
