/**
 * Asks a person to approve a draft, in the commit that makes or changes it (docs/mail.md). So
 * many mails an hour an org; then one summary, which names all that came meanwhile.
 */
import { newNotice, type NoticePayload } from "../../base/notices/notice_handler.ts";
import {
  outgoingKey,
  type OutgoingRow,
  stageNewOutgoing,
} from "../../base/outgoing/outgoing_row.ts";
import { domainTag } from "../../base/outgoing/recipient_domain.ts";
import { admit, type Window } from "../../base/bounds/rate_window.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { DAY_MS, HOUR_MS } from "../../base/time/time_units.ts";
import type { MailboxTransaction } from "../core/mailboxes.ts";
import type { AskedApproval, DraftRow } from "../records/draft_record.ts";
import { makeUlid } from "../records/mail_id.ts";

export const APPROVAL_MAIL_KIND = "mail-draft";
/** How long a link works. */
export const APPROVAL_LINK_MS = 3 * DAY_MS;
const MAILS_PER_HOUR = 10;
/** Links of former revisions that still lead to the draft. */
const KEPT_LINKS = 20;
/** By then nothing names its summary any more. */
const RECORD_MS = 5 * DAY_MS;

/** What the outgoing queue keeps of such a mail. */
export interface ApprovalMailPayload extends NoticePayload {
  orgId: string;
  /** Null for a summary. */
  draft: { inboxId: string; id: string } | null;
}

/** ["mail-approval", orgId] */
interface ApprovalRecord {
  v: 1;
  /** Mails and summaries. */
  window: Window;
  /** Row of the outgoing queue of the last summary; null before the first. */
  summaryId: string | null;
}
const approvalKey = defineRecord<ApprovalRecord, [orgId: string]>(["mail-approval"], 1, {
  holds: "mails that asked for approvals within the hour, and the last summary",
  expires: "5 d",
});

/**
 * Queues the mail unless somebody was asked already for the draft as it is now.
 * @param row of the revision that this commit writes; `asked` is the former one's
 * @returns what the row says of it; null where nobody is to be asked
 */
export function stageAsking(
  { transaction, org, inbox }: MailboxTransaction,
  random: (sizeBytes: number) => Uint8Array,
  row: DraftRow,
): AskedApproval | null {
  const { orgId, asked: former } = row;
  const email = org.verifiedEmail;
  if (inbox.sendPolicy !== "draft_only" || email === null) return null;
  const { nowMs } = transaction;
  const isWaiting = (id: string | null) =>
    id !== null && waits(transaction.record(outgoingKey(id)));
  const isSameReader = former?.email === email;
  const links = isSameReader ? former.links.filter(({ untilMs }) => untilMs > nowMs) : [];
  const asked = (mailId: string, dueMs: number): AskedApproval => ({
    email,
    mailId,
    links: [
      ...links.slice(1 - KEPT_LINKS),
      { revision: row.revision, untilMs: dueMs + APPROVAL_LINK_MS },
    ],
  });
  // Its words are made when it is sent: it will show this revision.
  if (isSameReader && isWaiting(former.mailId)) return asked(former.mailId, nowMs);
  const approval = transaction.record(approvalKey(orgId));
  const summaryId = approval?.summaryId ?? null;
  const rule = { limit: MAILS_PER_HOUR, windowMs: HOUR_MS };
  const admitted = admit(approval?.window ?? [], nowMs, rule);
  const isRoom = "window" in admitted;
  const dueMs = isRoom ? nowMs : nowMs + admitted.retryAfterMs;
  if (!isRoom && isWaiting(summaryId)) return asked(summaryId!, dueMs);
  const id = isRoom
    ? `${APPROVAL_MAIL_KIND}/${row.id}/${row.revision}`
    : `${APPROVAL_MAIL_KIND}-summary/${orgId}/${makeUlid(nowMs, random)}`;
  const draft = isRoom ? { inboxId: row.inboxId, id: row.id } : null;
  stageNewOutgoing(transaction, {
    id,
    kind: APPROVAL_MAIL_KIND,
    destination: domainTag(email),
    payload: { ...newNotice(random), orgId, draft } satisfies ApprovalMailPayload,
    dueMs,
  });
  const window = isRoom ? admitted.window : withSummary(approval!.window, nowMs);
  const record: ApprovalRecord = { v: 1, window, summaryId: isRoom ? summaryId : id };
  transaction.putRecord(approvalKey(orgId), record, RECORD_MS);
  return asked(id, dueMs);
}

/** A summary counts too, so that it stays the only one until there is room for mails again. */
function withSummary(full: Window, nowMs: number): Window {
  return [...full, Math.max(nowMs, full.at(-2) ?? 0), 1];
}

/** Whether a mail waits, and no attempt to send it has begun. */
function waits(row: OutgoingRow | null): boolean {
  return row !== null && row.lease === null && row.phase === "ready";
}
