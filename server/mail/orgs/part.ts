/** Orgs as a part of the mail area, with the erasure of those that are gone. */
import { INBOX_TABLES } from "../inboxes/inbox_rows.ts";
import type { MailCore, MailPart } from "../mail_core.ts";
import { draftOwnerKey } from "../records/draft_record.ts";
import { SUPPRESSION_TABLES } from "../suppressions/suppressions.ts";
import { Erasures } from "./erasures.ts";
import { orgHandlers } from "./routes.ts";

/** Rows of an org in the tables of every part, by the first parts of their keys. */
const TABLES = [
  ...INBOX_TABLES,
  ...SUPPRESSION_TABLES,
  "mail-figures",
  "mail-idempotency",
  "mail-approval",
  "mail-inbox-erasure",
  "mail-object",
  "mail-retention",
  "mail-storage",
  "mail-written",
];

export function openOrgs(core: MailCore): MailPart {
  const { store, commits, leases, limits, blobs, deps: { log } } = core;
  const erasures = new Erasures({
    store,
    commits,
    leases,
    limits,
    log,
    alsoErased: (key) => key[0] === "mail-draft" ? [draftOwnerKey(key[3] as string)] : [],
    eraseFirst: (orgId) => blobs.dropSome([orgId]),
    rowsOfOrg: [
      (orgId) => [["mail-key-used", orgId]],
      (orgId) => ["mail-inbox", "mail-list", "mail-client-id"].map((name) => [name, orgId]),
      (orgId) => TABLES.map((name) => [name, orgId]),
    ],
  });
  return {
    handlers: orgHandlers({ ...core, erasures }),
    start: () => erasures.begin(),
    everyMinute: () => erasures.run(),
    close: () => erasures.close(),
  };
}
