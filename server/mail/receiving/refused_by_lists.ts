import { isListed } from "../mailbox/inboxes/address_list.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { MailAuth } from "../records/message_record.ts";

/**
 * Whether an inbox's lists keep a message out (docs/mail.md); "unknown" where that rests on
 * what is not known yet, or on checks of the sender that could not be made. Pure.
 *
 * @param from undefined where it could not be read yet
 * @param auth verdict `error` where nothing was checked yet
 */
export function isRefusedByLists(
  { entries }: Pick<Inbox, "entries">,
  envelopeFrom: string,
  from: string | null | undefined,
  auth: Pick<MailAuth, "verdict">,
): boolean | "unknown" {
  const senders = [envelopeFrom, from ?? ""].filter((one) => one !== "").map((one) =>
    spelledAsListed(one)
  );
  if (senders.some((one) => isListed(entries.block_receive, one))) return true;
  if (from === undefined) {
    return entries.block_receive.length + entries.allow_receive.length > 0 ? "unknown" : false;
  }
  if (entries.allow_receive.length === 0) return false;
  const isAllowed = from !== null && isListed(entries.allow_receive, spelledAsListed(from));
  if (isAllowed && auth.verdict === "error") return "unknown";
  return !isAllowed || auth.verdict !== "pass";
}

/** A dot at the end of a domain changes nothing of whose it is. */
function spelledAsListed(address: string): string {
  return address.toLowerCase().replace(/\.$/, "");
}
