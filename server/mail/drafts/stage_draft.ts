/**
 * What the commits write that make, change and remove drafts. Each is part of a change of its mailbox
 * (core/mailboxes.ts).
 */
import type { Blobs } from "../../base/blobs/blobs.ts";
import { RelayError } from "../../base/errors.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { Mailbox, MailboxTransaction } from "../core/mailboxes.ts";
import { fitsQuota, overQuota, storageKey } from "../core/storage_quota.ts";
import type { ObjectRow } from "../mailbox/messages/stage_message.ts";
import {
  draftBytes,
  draftClientIdKey,
  draftKey,
  draftOwnerKey,
  type DraftOwnerRow,
  type DraftRow,
} from "../records/draft_record.ts";
import { objectKey } from "../records/message_record.ts";

/** @throws RelayError `draft_limit_reached` */
export function requireDraftQuota(
  { drafts = 0 }: Pick<Mailbox, "drafts">,
  { mailDraftsPerInbox: most }: Pick<Limits, "mailDraftsPerInbox">,
): void {
  if (drafts < most) return;
  throw new RelayError(
    "draft_limit_reached",
    `an inbox keeps at most ${most} drafts; send or discard one`,
  );
}

/**
 * Adds a draft.
 * @param answerBytes bytes of the answer that is kept too
 * @throws RelayError `draft_limit_reached`, `unavailable`
 */
export function stageNewDraft(
  given: MailboxTransaction,
  { blobs, limits }: { blobs: Pick<Blobs, "keep">; limits: Limits },
  row: DraftRow,
  answerBytes: number,
): Mailbox {
  const { transaction, mailbox } = given;
  const { orgId, inboxId, id, clientId } = row;
  requireDraftQuota(mailbox, limits);
  requireStorage(given, draftBytes(row) + answerBytes, limits);
  transaction.set(draftKey(orgId, inboxId, id), row);
  transaction.set(objectKey(orgId, id), { v: 1, inboxId } satisfies ObjectRow);
  transaction.set(draftOwnerKey(id), { v: 1, orgId, inboxId } satisfies DraftOwnerRow);
  if (clientId !== null) {
    transaction.set(draftClientIdKey(orgId, inboxId, clientId), { v: 1, draftId: id });
  }
  blobs.keep(transaction, row.texts);
  if (row.files !== null) blobs.keep(transaction, row.files);
  return { ...mailbox, drafts: (mailbox.drafts ?? 0) + 1 };
}

/** Replaces a draft by its next revision. @throws RelayError `unavailable` */
export function stageDraftChange(
  given: MailboxTransaction,
  { blobs, limits }: { blobs: Pick<Blobs, "keep" | "drop">; limits: Limits },
  before: DraftRow,
  after: DraftRow,
): void {
  const { transaction } = given;
  // What is replaced counts until it is swept.
  const fresh = {
    texts: after.texts === before.texts ? null : after.texts,
    files: after.files === before.files ? null : after.files,
  };
  requireStorage(given, draftBytes(fresh), limits);
  transaction.set(draftKey(after.orgId, after.inboxId, after.id), after);
  for (const part of ["texts", "files"] as const) {
    const [former, next] = [before[part], fresh[part]];
    if (former !== null && former !== after[part]) blobs.drop(transaction, former);
    if (next !== null) blobs.keep(transaction, next);
  }
}

/** Removes a draft for good; stored answers that showed it stay. */
export function stageDraftRemoval(
  { transaction, mailbox }: Pick<MailboxTransaction, "transaction" | "mailbox">,
  { blobs }: { blobs: Pick<Blobs, "drop"> },
  row: DraftRow,
): Mailbox {
  const { orgId, inboxId, id, clientId } = row;
  transaction.delete(draftKey(orgId, inboxId, id));
  transaction.delete(objectKey(orgId, id));
  transaction.delete(draftOwnerKey(id));
  if (clientId !== null) transaction.delete(draftClientIdKey(orgId, inboxId, clientId));
  blobs.drop(transaction, row.texts);
  if (row.files !== null) blobs.drop(transaction, row.files);
  return { ...mailbox, drafts: Math.max(0, (mailbox.drafts ?? 0) - 1) };
}

function requireStorage(
  { transaction, org }: MailboxTransaction,
  bytes: number,
  limits: Limits,
): void {
  const stored = transaction.record(storageKey(org.id));
  if (bytes > 0 && !fitsQuota(stored, bytes, org, transaction.nowMs, limits)) throw overQuota();
}
