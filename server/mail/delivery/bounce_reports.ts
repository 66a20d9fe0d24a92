/** Takes mail to a bounce address (mail page, "Receiving"): a report of delivery is applied, and no message. */
import { RelayError } from "../../errors.ts";
import { retryWhileLocked } from "../../storage/lock_retry.ts";
import type { Store } from "../../storage/store.ts";
import type { BouncedMail } from "../composing/bounce_address.ts";
import type { MessageRow, Recipient } from "../records/message_record.ts";
import { type DsnRecipient, parseDsn, reportedOn } from "./dsn.ts";
import { sentKey, type SentRow } from "./queued_mail.ts";
import { nextStatus, type RecipientEvent } from "./recipient_status.ts";
import type { RecipientChanges } from "./recipient_change.ts";
import { reportEvent } from "./report_event.ts";

/** What is to become of mail to a bounce address. */
export type BounceAnswer =
  /** It is a report, and what it said is stored. */
  | { answer: "applied" }
  /** It is refused as mail to nobody: the message has gone, or is older than 30 days. */
  | { answer: "unknown" }
  /** It is no report, such as an out-of-office answer: it belongs to this message's thread and inbox. */
  | { answer: "mail"; row: MessageRow };

export class BounceReports {
  constructor(
    private readonly services: { store: Store; changes: RecipientChanges },
  ) {}

  /** Read once, however many addresses of the envelope are of bounces. */
  readonly #parsed = new WeakMap<Uint8Array, { recipients: DsnRecipient[] | null }>();

  /**
   * @param named what the address names, its HMAC checked
   * @param raw of the message that came (RFC 5322)
   * @throws RelayError `unavailable` where it has to be tried again
   */
  async receive({ messageId, recipient }: BouncedMail, raw: Uint8Array): Promise<BounceAnswer> {
    const { store, changes } = this.services;
    const { value: sent } = await retryWhileLocked(() => store.kv.get<SentRow>(sentKey(messageId)));
    if (sent === null || store.now() >= sent.untilMs) return { answer: "unknown" };
    const { orgId, inboxId } = sent;
    const named = { v: 1, orgId, inboxId, messageId, recipient } as const;
    const row = await changes.read(named);
    const address = row?.recipients[recipient]?.address;
    if (row === null || address === undefined) return { answer: "unknown" };
    const reported = this.#parse(raw);
    if (reported === null) return { answer: "mail", row };
    const report = reportedOn(reported, address);
    const event = report === null ? null : reportEvent(report);
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

  #parse(raw: Uint8Array): DsnRecipient[] | null {
    const parsed = this.#parsed.get(raw) ?? { recipients: parseDsn(raw) };
    this.#parsed.set(raw, parsed);
    return parsed.recipients;
  }
}

/** Whether it changes nothing, sent to right now or not: repetitions shall not cost commits. */
function isWithoutEffect(recipient: Recipient, { trigger }: RecipientEvent): boolean {
  const status = nextStatus(recipient, "begun")?.status ?? recipient.status;
  return nextStatus(recipient, trigger) === null &&
    nextStatus({ ...recipient, status }, trigger) === null;
}
