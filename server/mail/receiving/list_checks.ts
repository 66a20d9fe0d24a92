/** What inboxes' lists say of one message, and how many of its kind they had to have read to refuse them. */
import { countedAddress } from "../../base/http/callers/client_address.ts";
import { peekFrom } from "../reading/mime/peek_from.ts";
import type { Inbox } from "../records/inbox_record.ts";
import { senderDomain } from "./mail_source.ts";
import type { AnnouncedMail, ReceivedMail } from "./received_mail.ts";
import type { RefusalWindows } from "./refusal_windows.ts";
import { isRefusedByLists } from "./refused_by_lists.ts";

/** Of a message that has come, or of its envelope before it. To be ended by done(). */
export class ListChecks {
  readonly #mail: AnnouncedMail & Partial<Pick<ReceivedMail, "raw">>;
  readonly #refusals: RefusalWindows;
  #peeked: { from: string | null | undefined } | null = null;
  readonly #held: (() => void)[] = [];

  constructor(
    mail: AnnouncedMail & Partial<Pick<ReceivedMail, "raw">>,
    refusals: RefusalWindows,
  ) {
    this.#mail = mail;
    this.#refusals = refusals;
  }

  /** The verdict before the message is read: "unknown" where the lists may still refuse it. */
  isRefusedUnread(inbox: Inbox): boolean | "unknown" {
    const { block_receive, allow_receive } = inbox.entries;
    if (block_receive.length + allow_receive.length === 0) return false;
    const { from, raw } = this.#mail;
    this.#peeked ??= { from: raw === undefined ? undefined : peekFrom(raw) };
    const isRefused = isRefusedByLists(inbox, from, this.#peeked.from, { verdict: "error" });
    // Once it is there, its From mostly shows that block_receive alone lets it in unread.
    const mayComeUnread = raw === undefined && allow_receive.length === 0;
    return isRefused === "unknown" && mayComeUnread ? false : isRefused;
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
