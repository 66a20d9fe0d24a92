/** A link that somebody asks for: counted in the hour of who asks and of where it goes (specification, 8). */
import { mailboxAddress } from "../../base/mailer/mailbox_address.ts";
import { rateLimited } from "../../base/errors.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import {
  defineWindow,
  stageWindow,
  type WindowKey,
} from "../../base/storage/commits/window_record.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { LINK_MS, type LinkRecord } from "../records/link_record.ts";
import { type SignInServices, stageLink } from "./owners/queued_link.ts";

const emailWindow = defineWindow<[mailboxHash: string]>("mail-magic-email", {
  holds: "links in mails to an e-mail address without its tag",
  expires: "1 h",
});

/**
 * Counts a link, stores it and queues its mail.
 * @param asker window of who asks: how many an hour, and what a refusal says behind "at most {limit}"
 * @throws RelayError `rate_limited`, for the asker first
 */
export function stageAskedLink<L extends LinkRecord>(
  transaction: Transaction,
  { clients, limits, store }: Pick<SignInServices, "clients" | "limits" | "store">,
  asker: { key: ReturnType<WindowKey>; limit: number; words: string },
  linkId: string,
  link: Parameters<typeof stageLink<L>>[2],
): L {
  const hash = clients.hash(`mailbox\n${mailboxAddress(link.email)}`);
  const reader = {
    key: emailWindow(hash),
    limit: limits.mailMagicPerEmailPerHour,
    words:
      "sign-in links an hour to one e-mail address, links of claims counted; those sent before work for an hour",
  };
  for (const { key, limit, words } of [asker, reader]) {
    const refuse = (waitMs: number) => rateLimited(`at most ${limit} ${words}`, waitMs);
    stageWindow(transaction, key, { limit, windowMs: HOUR_MS }, refuse);
  }
  return stageLink<L>(transaction, linkId, link, LINK_MS, store.random);
}
