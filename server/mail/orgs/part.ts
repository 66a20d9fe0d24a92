/** Orgs as a part of the mail area, with the erasure of those that are gone. */
import { mount } from "../../base/description/declaration.ts";
import type { KeyUse } from "../../base/idempotency/keyed_requests.ts";
import type { Mark } from "../../base/idempotency/repetitions.ts";
import { INBOX_TABLES } from "../mailbox/inboxes/inbox_rows.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { draftOwnerKey } from "../records/draft_record.ts";
import { eventEndKeyOf, type EventRow } from "../records/event_record.ts";
import { REPEATED_MAILS } from "../receiving/repeats.ts";
import { MAIL_KEYS } from "../records/stored_answer.ts";
import { SUPPRESSION_TABLES } from "../mailbox/suppressions/suppressions.ts";
import { Erasures } from "./erasures.ts";
import { ORG_ROUTES, SUSPENSION_ROUTES } from "./routes.ts";

/** Tables of every part, by the first parts of their keys: what shows an org's inboxes goes first. */
const TABLES = [
  "mail-key-used",
  "mail-session",
  "mail-inbox",
  "mail-list",
  "mail-client-id",
  // Whoever writes an attempt checks its webhook.
  "mail-webhook",
  "mail-webhook-attempt",
  ...INBOX_TABLES,
  ...SUPPRESSION_TABLES,
  "mail-figures",
  MAIL_KEYS.name,
  "mail-approval",
  "mail-inbox-erasure",
  "mail-object",
  "mail-retention",
  "mail-storage",
  "mail-event-erased",
  "mail-written",
];

/** Rows that go with one of an org, and are kept under other keys. */
function alsoErased({ key, value }: Deno.KvEntry<unknown>): Deno.KvKey[] {
  if (key[0] === "mail-event") {
    const [, orgId, inboxId, objectId, eventId] = key as [string, string, string, string, string];
    return [eventEndKeyOf({ orgId, inboxId, objectId, eventId }, value as EventRow)];
  }
  if (key[0] === "mail-draft") return [draftOwnerKey(key[3] as string)];
  if (key[0] === REPEATED_MAILS.name) return [REPEATED_MAILS.endKey(key, value as Mark)];
  return key[0] === MAIL_KEYS.name ? [MAIL_KEYS.endKey(key, value as KeyUse)] : [];
}

export function openOrgs(core: MailCore): Part {
  const { store, commits, leases, limits, blobs, deps: { log } } = core;
  const erasures = new Erasures({
    store,
    commits,
    leases,
    limits,
    log,
    alsoErased,
    eraseFirst: (orgId) => blobs.dropSome([orgId]),
    tables: TABLES,
  });
  return {
    routes: mount([...ORG_ROUTES, ...SUSPENSION_ROUTES], { ...core, erasures }),
    start: () => erasures.begin(),
    everyMinute: () => erasures.run(),
    close: () => erasures.close(),
  };
}
