/**
 * The inboxes that an envelope names, and what needs no look into the message: decided before it comes,
 * and again when it has.
 */
import type { Limits } from "../../base/config/limits.ts";
import { fitsQuota, storageKey, type StorageRecord } from "../core/storage_quota.ts";
import type { Mailbox } from "../core/mailboxes.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { MessageRow } from "../records/message_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import type { ListChecks } from "./list_checks.ts";
import { admitReceived, messagesAnHour, type ReceivedRates } from "./receiving_rate.ts";
import { Refused } from "./refused.ts";

export interface Recipient {
  inbox: Inbox;
  org: OrgRecord;
}

export class Recipients {
  constructor(
    private readonly services: Pick<
      MailCore,
      "inboxes" | "records" | "limits" | "store" | "mailboxes"
    >,
  ) {}

  /**
   * @param address as the envelope gives it
   * @param about the message whose inbox it goes to, where it is an address of bounces
   * @returns null where nobody has such an inbox
   */
  async find(address: string, about: MessageRow | null = null): Promise<Recipient | null> {
    const { inboxes, records, limits, store } = this.services;
    const inbox = about === null
      ? await inboxes.byAddress(address)
      : await inboxes.byId(about.orgId, about.inboxId);
    const org = inbox === null ? null : await records.read<OrgRecord>(orgKey(inbox.orgId));
    if (inbox === null || org === null || orgState(org, store.now(), limits) === "gone") {
      return null;
    }
    return { inbox, org };
  }

  /**
   * What needs no look into the message.
   * @param sizeBytes of the message, as far as that is known
   * @param isRepeated whether the inbox has it already: then nothing that came later refuses it
   * @returns null: accepted; undefined: to be read
   */
  async decideUnread(
    { inbox, org }: Recipient,
    sizeBytes: number,
    lists: ListChecks,
    isRepeated?: () => Promise<boolean>,
  ): Promise<Refused | null | undefined> {
    const { records, limits, store } = this.services;
    const nowMs = store.now();
    if (org.suspendedAtMs !== null) return new Refused("org_suspended");
    // Taken and dropped: the inbox is back when the org is claimed, and no sender learns that it was gone.
    if (orgState(org, nowMs, limits) === "expired") return null;
    if (await isRepeated?.()) return null;
    const isRefused = lists.isRefusedUnread(inbox);
    if (isRefused === true) return new Refused("blocked");
    const stored = await records.read<StorageRecord>(storageKey(org.id));
    if (!fitsQuota(stored, sizeBytes, org, nowMs, limits)) return new Refused("over_quota");
    const mailbox = await this.services.mailboxes.read(org.id, inbox.id);
    const window = this.admit(mailbox, org, sizeBytes, nowMs);
    if (window instanceof Refused) return window;
    if (isRefused === false) return undefined;
    const waitMs = lists.begin(inbox, refusalLimit(org, limits));
    return waitMs === null ? undefined : new Refused("rate_limited", waitMs);
  }

  /** One message more in the rates of an inbox. */
  admit(
    mailbox: Mailbox,
    { trialEndsAtMs }: OrgRecord,
    bytes: number,
    nowMs: number,
  ): ReceivedRates | Refused {
    const { limits } = this.services;
    const asked = { bytes, isTrial: trialEndsAtMs !== null, nowMs, limits };
    const rates = admitReceived(mailbox, asked);
    return "retryAfterMs" in rates ? new Refused("rate_limited", rates.retryAfterMs) : rates;
  }
}

/** Messages of an hour that an inbox refuses after they were read: as many as it takes. */
export function refusalLimit({ trialEndsAtMs }: OrgRecord, limits: Limits): number {
  return messagesAnHour(trialEndsAtMs !== null, limits);
}
