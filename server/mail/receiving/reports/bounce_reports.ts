/**
 * Takes mail to a bounce address (docs/mail.md): a report of delivery is applied, and no
 * message; what cannot be applied is one, as an answer is.
 */
import { RelayError } from "../../../base/errors.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { MailBase } from "../../core/mail_base.ts";
import type { BouncedMail } from "../../composing/bounce_address.ts";
import type { MessageRow, Recipient } from "../../records/message_record.ts";
import { type DsnRecipient, reportedOn } from "../../reading/reports/dsn.ts";
import { type MailPayload, sentKey, type SentRow } from "../../mailbox/statuses/queued_mail.ts";
import { nextStatus, type RecipientEvent } from "../../mailbox/statuses/recipient_status.ts";
import type { RecipientChanges } from "./recipient_changes.ts";
import { reportEvent } from "./report_event.ts";

/** What is to become of mail to a bounce address. */
export type BounceAnswer =
  /** It is a report, and what it said is stored. */
  | { answer: "applied" }
  /** It is refused as mail to no inbox: the message has gone, or is older than 30 days. */
  | { answer: "unknown" }
  /**
   * It says nothing that can be applied, as an out-of-office answer, or a notice that only a person
   * understands: it belongs to this message's thread and inbox.
   */
  | { answer: "mail"; row: MessageRow };

/** Reports stand before the mail that they return; what is behind this is not looked at. */
const REPORT_BYTES = 256 * 1024;

export interface BounceReportsServices {
  store: Store;
  changes: RecipientChanges;
  reader: Pick<MailBase["reader"], "readReport">;
}

export class BounceReports {
  constructor(private readonly services: BounceReportsServices) {}

  /** Read once, however many addresses of the envelope are of bounces. */
  readonly #read = new WeakMap<Uint8Array, Promise<DsnRecipient[] | null>>();

  /**
   * @param named what the address names, its HMAC checked: it alone says whose delivery changes
   * @param mail that came: its bytes (RFC 5322) and envelope sender
   * @throws RelayError `unavailable` where it has to be tried again
   */
  async receive(
    bounced: BouncedMail,
    { raw, from }: { raw: Uint8Array; from: string },
  ): Promise<BounceAnswer> {
    const found = await this.find(bounced);
    if (found === null) return { answer: "unknown" };
    const { named, row, address } = found;
    const { orgId, recipient } = named;
    const { changes } = this.services;
    const report = reportedOn(await this.#reportedIn(raw, from, orgId) ?? [], address);
    if (report === null) return { answer: "mail", row };
    const event = reportEvent(report);
    if (event === null || isWithoutEffect(row.recipients[recipient]!, event)) {
      return { answer: "applied" };
    }
    try {
      const changed = await changes.report(named, event);
      return { answer: changed === "unknown" ? "unknown" : "applied" };
    } catch (error) {
      // Inbox or org have gone meanwhile.
      const isGone = error instanceof RelayError &&
        (error.code === "not_found" || error.code === "unknown_key");
      if (isGone) return { answer: "unknown" };
      throw error;
    }
  }

  /** What such an address is about; null for a message that has gone, or is older than 30 days. */
  async find(
    { messageId, recipient }: BouncedMail,
  ): Promise<{ named: MailPayload; row: MessageRow; address: string } | null> {
    const { store, changes } = this.services;
    const { value: sent } = await store.get<SentRow>(sentKey(messageId));
    if (sent === null || store.now() >= sent.untilMs) return null;
    const { orgId, inboxId } = sent;
    const named = { v: 1, orgId, inboxId, messageId, recipient } as const;
    const row = await changes.read(named);
    const address = row?.recipients[recipient]?.address;
    return row === null || address === undefined ? null : { named, row, address };
  }

  #reportedIn(
    raw: Uint8Array,
    from: string,
    owner: string,
  ): Promise<DsnRecipient[] | null> {
    const read = this.#read.get(raw) ??
      this.services.reader.readReport(raw.subarray(0, REPORT_BYTES), from, owner);
    this.#read.set(raw, read);
    return read;
  }
}

/** Whether it changes nothing, whether or not an attempt is running: repetitions must not cost commits. */
function isWithoutEffect(recipient: Recipient, { trigger }: RecipientEvent): boolean {
  const status = nextStatus(recipient, "begun")?.status ?? recipient.status;
  return nextStatus(recipient, trigger) === null &&
    nextStatus({ ...recipient, status }, trigger) === null;
}
