/** Inboxes as the store holds them, and as answers show them (docs/mail.md, "Inboxes"). */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import type { OrgState } from "./org_record.ts";

export type SendPolicy = "direct" | "draft_only";

/** Lists of addresses and domains. Each is a record of its own: together they pass 64 KiB, a value's bound. */
export type AddressListName = "allow_send" | "allow_receive" | "block_receive";
export const ADDRESS_LISTS: readonly AddressListName[] = [
  "allow_send",
  "allow_receive",
  "block_receive",
];

export interface InboxRecord {
  v: 1;
  /** `ibx_` and a ULID. */
  id: string;
  orgId: string;
  /** Lowercased, at the domain of the store. */
  localPart: string;
  displayName: string | null;
  sendPolicy: SendPolicy;
  /** Days after which messages are deleted; null keeps them. */
  retentionDays: number | null;
  /** Which lists are not empty, so that the others need no read. */
  lists: readonly AddressListName[];
  /** Under which the inbox was made, to make it once. */
  clientId: string | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** ["mail-inbox", orgId, inboxId] */
export const inboxKey = defineRecord<InboxRecord, [orgId: string, inboxId: string]>(
  ["mail-inbox"],
  2,
  { holds: "an inbox" },
);

/** ["mail-list", orgId, inboxId, name]: entries, absent where empty. */
export const listKey = defineRecord<
  { v: 1; entries: readonly string[] },
  [orgId: string, inboxId: string, name: AddressListName]
>(["mail-list"], 3, { holds: "whom it writes to or hears from, where that is limited" });

/** ["mail-address", localPart]: whose inbox it is or was; never given out again. */
export interface AddressRecord {
  v: 1;
  orgId: string;
  inboxId: string;
}
export const addressKey = defineRecord<AddressRecord, [localPart: string]>(["mail-address"], 1, {
  holds: "whose inbox an address is or was; never given out again",
  expires: "for ever",
});

type NamedKind = "inbox" | "webhook";

/** ["mail-client-id", orgId, kind, client_id]: what was made under a client_id, to make it once. */
export const clientIdKey = defineRecord<
  { v: 1; id: string },
  [orgId: string, kind: NamedKind, clientId: string]
>(["mail-client-id"], 3, { holds: "what was made under a client_id" });

/** An inbox with its lists. */
export interface Inbox extends InboxRecord {
  entries: Readonly<Record<AddressListName, readonly string[]>>;
}

/** What a key sees of an inbox that it may change and not read: nothing that others wrote. */
export function markedInbox(shown: ReturnType<typeof shownInbox>) {
  const { display_name: _, allow_send: __, allow_receive: ___, block_receive: ____, ...marks } =
    shown;
  return marks;
}

/**
 * @param state of the org: the inboxes of an expired trial are expired
 * @param unread messages that nobody has marked as read
 */
export function shownInbox(inbox: Inbox, domain: string, state: OrgState, unread: number) {
  return {
    id: inbox.id,
    org_id: inbox.orgId,
    address: `${inbox.localPart}@${domain}`,
    display_name: inbox.displayName,
    status: state === "expired" ? "expired" : "active",
    retention_days: inbox.retentionDays,
    send_policy: inbox.sendPolicy,
    allow_send: inbox.entries.allow_send,
    allow_receive: inbox.entries.allow_receive,
    block_receive: inbox.entries.block_receive,
    unread_count: unread,
    created_at: timestamp(inbox.createdAtMs),
    updated_at: timestamp(inbox.updatedAtMs),
  };
}
