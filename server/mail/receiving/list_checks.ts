/** What inboxes' lists say of one message, and how many of its kind they had to have read to refuse them. */
import { countedAddress } from "../../base/http/callers/client_address.ts";
import { peekFrom } from "../reading/mime/peek_from.ts";
import type { Inbox } from "../records/inbox_record.ts";
import { senderDomain } from "./mail_source.ts";
import type { ReceivedMail } from "./received_mail.ts";
import type { RefusalWindows } from "./refusal_windows.ts";
import { isRefusedByLists } from "./refused_by_lists.ts";

/** To be ended by done(). */
export class ListChecks {
  readonly #mail: ReceivedMail;
  readonly #refusals: RefusalWindows;
  #peeked: { from: string | null | undefined } | null = null;
  readonly #held: (() => void)[] = [];

  constructor(mail: ReceivedMail, refusals: RefusalWindows) {
    this.#mail = mail;
    this.#refusals = refusals;
  }

  /** The verdict before the message is read: "unknown" where the lists may still refuse it. */
  isRefusedUnread(inbox: Inbox): boolean | "unknown" {
    const { block_receive, allow_receive } = inbox.entries;
    if (block_receive.length + allow_receive.length === 0) return false;
    this.#peeked ??= { from: peekFrom(this.#mail.raw) };
    return isRefusedByLists(inbox, this.#mail.from, this.#peeked.from, { verdict: "error" });
  }

  /**
   * Before a message is read that the inbox's lists may refuse.
   * @param limit of refusals in an hour
   * @returns milliseconds until there is room for one; null where there is
   */
  begin(inbox: Inbox, limit: number): number | null {
    const name = this.#nameOf(inbox);
    if (name === null) return null;
    const waitMs = this.#refusals.waitMs(name, limit);
    if (waitMs === null) this.#held.push(this.#refusals.reserve(name));
    return waitMs;
  }

  /** It was read, and the lists have refused it. */
  count(inbox: Inbox, limit: number): void {
    const name = this.#nameOf(inbox);
    if (name !== null) this.#refusals.count(name, limit);
  }

  done(): void {
    for (const release of this.#held.splice(0)) release();
  }

  /**
   * By client and envelope sender, so that the inbox still hears from all others. Null where nobody says
   * who the client was: whatever else names a sender is the sender's own word, and would shut out the one
   * whose name it is.
   */
  #nameOf({ id }: Inbox): string | null {
    const { clientIp } = this.#mail;
    const address = clientIp === null ? undefined : countedAddress(clientIp);
    return address === undefined ? null : `${id} ${address} ${senderDomain(this.#mail)}`;
  }
}
