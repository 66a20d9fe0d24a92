/** What an inbox holds besides its own records, for those who erase it. */
import { defineRow } from "../../../base/storage/rows/row_key.ts";

/** Rows that are kept by org and inbox: all keys of a table that begin with both; what leaves by itself first. */
export const INBOX_TABLES = [
  "mail-event",
  "mail-message",
  "mail-index",
  "mail-thread",
  "mail-thread-order",
  "mail-rfc-id",
  "mail-repeat",
  "mail-draft",
  "mail-draft-client-id",
  "mail-mailbox",
] as const;

export const inboxErasureKey = defineRow<[orgId: string, inboxId: string]>(
  ["mail-inbox-erasure"],
  2,
  { holds: "stands while something is left of a deleted inbox" },
);

export const retentionKey = defineRow<[orgId: string, inboxId: string]>(["mail-retention"], 2, {
  holds: "days after which an inbox's messages are deleted; of inboxes that have some",
});
