/**
 * Asks a person to approve a draft, in the commit that makes or changes it (mail page, "Drafts"). So
 * many mails an hour an org; then one summary, which names all that came meanwhile.
 */
import { outgoingKey, type OutgoingRow, stageNewOutgoing } from "../../outgoing/outgoing_row.ts";
import { domainTag } from "../../outgoing/recipient_domain.ts";
import { admit, type Window } from "../../rate_window.ts";
import { Outdated } from "../../storage/job.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { defineRecord, type RecordKey } from "../../storage/record_key.ts";
import { DAY_MS, HOUR_MS } from "../../time_units.ts";
import type { MailboxTurn } from "../mailboxes/mailboxes.ts";
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

/** What the outgoing queue keeps of such a mail; address, tokens and words are made when it is sent. */
export interface ApprovalMailPayload {
  v: 1;
  orgId: string;
  /** Null for a summary. */
  draft: { inboxId: string; id: string } | null;
  /** Left of the @ of the Message-ID, the same at every attempt. */
  messageId: string;
  /** How often the next hop refused it permanently. */
  refusals: number;
}

/** ["mail-approval", orgId] */
interface ApprovalRecord {
  v: 1;
  /** Mails and summaries. */
  window: Window;
  /** Row of the outgoing queue of the last summary; null before the first. */
  summaryId: string | null;
}
const approvalKey = defineRecord<ApprovalRecord, [orgId: string]>(["mail-approval"], 1);

export interface AskingServices {
  records: Pick<RecordCache, "read">;
  random: (sizeBytes: number) => Uint8Array;
  now: () => number;
}

export interface Asking {
  /** For the commit that calls stage(). */
  records: readonly RecordKey<unknown>[];
  /**
   * Queues the mail where nobody was asked yet for the draft as it is now.
   * @param row of the revision that this commit writes; `asked` is the former one's
   * @returns what the row says of it; null where nobody is to be asked
   */
  stage(given: MailboxTurn, row: DraftRow): AskedApproval | null;
}

/** @param former mail that was queued for the draft before */
export async function prepareAsking(
  { records, random, now }: AskingServices,
  orgId: string,
  former: AskedApproval | null,
): Promise<Asking> {
  const summaryId = (await records.read<ApprovalRecord>(approvalKey(orgId)))?.summaryId ?? null;
  const mailIds = [former?.mailId ?? null, summaryId].filter((id) => id !== null);
  const nextSummaryId = `${APPROVAL_MAIL_KIND}-summary/${orgId}/${makeUlid(now(), random)}`;
  const messageId = random(16).toHex();
  return {
    records: [approvalKey(orgId), ...[...new Set(mailIds)].map((id) => outgoingKey(id))],
    stage({ turn, org, inbox }, row) {
      const email = org.verifiedEmail;
      if (inbox.sendPolicy !== "draft_only" || email === null) return null;
      const approval = turn.record(approvalKey(orgId));
      if ((approval?.summaryId ?? null) !== summaryId) throw new Outdated();
      const { nowMs } = turn;
      const isWaiting = (id: string | null) => id !== null && waits(turn.record(outgoingKey(id)));
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
      // Its words are made when it is sent: it will tell of this revision.
      if (isSameReader && isWaiting(former.mailId)) return asked(former.mailId, nowMs);
      const payload = { v: 1, orgId, messageId, refusals: 0 } as const;
      const rule = { limit: MAILS_PER_HOUR, windowMs: HOUR_MS };
      const admitted = admit(approval?.window ?? [], nowMs, rule);
      if ("window" in admitted) {
        const id = `${APPROVAL_MAIL_KIND}/${row.id}/${row.revision}`;
        const draft = { inboxId: row.inboxId, id: row.id };
        stageNewOutgoing(turn, {
          id,
          kind: APPROVAL_MAIL_KIND,
          destination: domainTag(email),
          payload: { ...payload, draft } satisfies ApprovalMailPayload,
          dueMs: nowMs,
        });
        const record: ApprovalRecord = { v: 1, window: admitted.window, summaryId };
        turn.putRecord(approvalKey(orgId), record, RECORD_MS);
        return asked(id, nowMs);
      }
      const dueMs = nowMs + admitted.retryAfterMs;
      if (isWaiting(summaryId)) return asked(summaryId!, dueMs);
      stageNewOutgoing(turn, {
        id: nextSummaryId,
        kind: APPROVAL_MAIL_KIND,
        destination: domainTag(email),
        payload: { ...payload, draft: null } satisfies ApprovalMailPayload,
        dueMs,
      });
      // A summary counts too, so that it stays the only one until there is room for mails again.
      const { window: full } = approval!;
      const window = [...full, Math.max(nowMs, full.at(-2) ?? 0), 1];
      turn.putRecord(approvalKey(orgId), { v: 1, window, summaryId: nextSummaryId }, RECORD_MS);
      return asked(nextSummaryId, dueMs);
    },
  };
}

/** Whether nobody has begun to send a mail. */
function waits(row: OutgoingRow | null): boolean {
  return row !== null && row.lease === null && row.phase === "ready";
}
