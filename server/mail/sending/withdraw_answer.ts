/**
 * What is left of an answer under an Idempotency-Key once the message or draft that it tells of is
 * deleted: ids and times. The key stays used, so that a request which is repeated sends nothing again.
 */
import type { Blobs } from "../../blobs/blobs.ts";
import { countOut } from "../../blobs/stored_bytes.ts";
import { CLOCK_SKEW_MS } from "../../clock_skew.ts";
import { putAnswer } from "../../idempotency/reserved_requests.ts";
import type { Turn } from "../../storage/job.ts";
import { EXPIRY_MARGIN_MS } from "../../storage/store.ts";
import { deletedDraft } from "../drafts/shown_draft.ts";
import { deletedMessage } from "../messages/shown_message.ts";
import type { DraftRow } from "../records/draft_record.ts";
import type { MessageRow } from "../records/message_record.ts";
import type { StoredAnswer } from "../records/stored_answer.ts";
import { useKey } from "./keyed_answers.ts";
import { answerIndexKey, type AnswerIndexRow, type KeptAnswer } from "./large_answers.ts";

type Services = { blobs: Pick<Blobs, "drop"> };

/** In the commit that deletes a message, whose job names its org's record of storage. */
export function withdrawAnswers(turn: Turn, { blobs }: Services, row: MessageRow): void {
  for (const answer of row.answers ?? []) {
    const left = answer.draft === undefined
      ? deletedMessage(row, turn.nowMs)
      : { status: "pending_approval", draft: deletedDraft(row.inboxId, answer.draft) };
    withdraw(turn, { blobs }, row.orgId, answer, left);
  }
}

/** The same in the commit that deletes a draft. */
export function withdrawProposal(turn: Turn, { blobs }: Services, row: DraftRow): void {
  if (row.answer === undefined) return;
  const left = { status: "pending_approval", draft: deletedDraft(row.inboxId, row) };
  withdraw(turn, { blobs }, row.orgId, row.answer, left);
}

function withdraw(
  turn: Turn,
  { blobs }: Services,
  orgId: string,
  answer: StoredAnswer,
  left: unknown,
): void {
  const expireInMs = answer.dueMs - turn.nowMs;
  // Nobody is answered it any more, and what stands under the key may be another's.
  if (expireInMs <= EXPIRY_MARGIN_MS + CLOCK_SKEW_MS) return;
  const body = new TextEncoder().encode(JSON.stringify(left));
  const kept: KeptAnswer = { status: 202, body };
  putAnswer(turn, useKey(orgId, answer.scope), kept, expireInMs);
  if (answer.blob !== null) blobs.drop(turn, answer.blob);
  const index: AnswerIndexRow = { v: 1, orgId, rowBytes: body.length, blob: null };
  turn.set(answerIndexKey(answer), index);
  countOut(turn, orgId, answer.rowBytes - body.length);
}
