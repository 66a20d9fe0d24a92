import type { FolderTable } from "./folder_rules.ts";

/**
 * Who may import whom in server/, and what of it. The files directly in server/ put the parts
 * together and import them all; docs/architecture.md says what each folder is.
 */
export const SERVER_FOLDERS: FolderTable = {
  config: { imports: [], shows: ["loopback.ts", "mail.ts"] },
  http: { imports: [], shows: "*" },
  storage: { imports: [], shows: "*" },
  waiting: {
    imports: ["storage"],
    shows: ["mailbox_kind.ts", "mailbox_waits.ts", "waiter.ts", "waits.ts"],
  },
  mailboxes: { imports: ["storage"], shows: ["records.ts", "retained_bytes.ts"] },
  pages: { imports: ["http"], shows: "*" },
  web: { imports: ["http", "pages"], shows: [] },
  description: { imports: ["http"], shows: "*" },
  docs: { imports: ["description", "http", "pages"], shows: [] },
  mail: {
    imports: [
      "agents",
      "config",
      "description",
      "digest",
      "http",
      "outgoing",
      "pages",
      "sealing",
      "storage",
    ],
    shows: [],
  },
  local: { imports: ["config", "http", "outgoing", "pages"], shows: [] },
  idempotency: { imports: ["storage"], shows: "*" },
  outgoing: {
    imports: ["config", "http", "storage"],
    shows: [
      "ascii_part.ts",
      "mailer.ts",
      "outgoing_handler.ts",
      "outgoing_queue.ts",
      "outgoing_row.ts",
    ],
  },
  agents: {
    imports: ["description", "http", "mailboxes", "storage"],
    shows: [
      "authenticate.ts",
      "change_limits.ts",
      "identifier.ts",
      "identities.ts",
      "presence.ts",
      "profile_rules.ts",
      "records.ts",
      "register.ts",
      "signature_use.ts",
      "tokens.ts",
      "verifying_key.ts",
    ],
  },
  sealing: {
    imports: ["http", "storage"],
    shows: ["key_ring.ts", "reseal.ts", "sealed_rows.ts"],
  },
  custody: {
    imports: ["agents", "description", "http", "mailboxes", "sealing", "storage"],
    shows: ["custody.ts"],
  },
  directory: {
    imports: ["agents", "description", "http", "storage"],
    shows: ["agent_search.ts", "listing.ts"],
  },
  messages: {
    imports: ["agents", "description", "http", "idempotency", "mailboxes", "storage", "waiting"],
    shows: [
      "inbox/inbox.ts",
      "inbox/inbox_reader.ts",
      "inbox/pages_in_hand.ts",
      "inbox/poll_record.ts",
      "inbox/undelivered.ts",
      "rows/message_row.ts",
      "rows/purge_record.ts",
      "rows/recent_messages.ts",
      "rows/row_codec.ts",
      "rows/stored_messages.ts",
      "send/send.ts",
      "send/token_send.ts",
    ],
  },
  network: {
    imports: ["agents", "description", "directory", "http", "mailboxes", "messages", "storage"],
    shows: [
      "counted.ts",
      "feed_correction.ts",
      "record_figures.ts",
      "sweep_record.ts",
      "totals.ts",
    ],
  },
  digest: {
    imports: [
      "agents",
      "description",
      "http",
      "mailboxes",
      "messages",
      "outgoing",
      "pages",
      "storage",
    ],
    shows: ["candidates.ts", "mailbox_address.ts", "subscription.ts"],
  },
  profiles: {
    imports: ["agents", "description", "digest", "directory", "http", "mailboxes", "storage"],
    shows: ["routes.ts", "update_profile.ts"],
  },
  admin: {
    imports: [
      "agents",
      "config",
      "description",
      "digest",
      "directory",
      "http",
      "mailboxes",
      "messages",
      "network",
      "pages",
      "storage",
    ],
    shows: [],
  },
  mcp: {
    imports: [
      "agents",
      "custody",
      "description",
      "directory",
      "http",
      "idempotency",
      "mailboxes",
      "messages",
      "profiles",
      "storage",
    ],
    shows: [],
  },
};
