/** What an inbox holds besides its own records, for those who erase it. */

/** Rows that are kept by org and inbox: all keys of a table that begin with both. */
export const INBOX_TABLES = [
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

/** ["mail-inbox-erasure", orgId, inboxId]: stands while something is left of a deleted inbox. */
export const inboxErasureKey = (orgId: string, inboxId: string): Deno.KvKey => [
  "mail-inbox-erasure",
  orgId,
  inboxId,
];

/** ["mail-retention", orgId, inboxId]: {days}, of inboxes that keep their messages for some days. */
export const retentionKey = (orgId: string, inboxId: string): Deno.KvKey => [
  "mail-retention",
  orgId,
  inboxId,
];
