/**
 * What is left of an answer under an Idempotency-Key once the message or draft that it shows is
 * deleted: ids and times. The key stays used, so that a repeated request sends nothing again.
 */
import type { Blobs } from "../../../base/blobs/blobs.ts";
import { countOut } from "../../../base/blobs/stored_bytes.ts";
import { CLOCK_SKEW_MS } from "../../../base/time/clock_skew.ts";
import { ANSWER_KEPT_MS, putAnswer } from "../../../base/idempotency/keyed_requests.ts";
import type { Transaction } from "../../../base/storage/commits/job.ts";
import { EXPIRY_MARGIN_MS } from "../../../base/storage/rows/store.ts";
import { MINUTE_MS } from "../../../base/time/time_units.ts";
import { deletedDraft } from "../shown/shown_draft.ts";
import { deletedMessage } from "../shown/shown_message.ts";
import type { DraftRow } from "../../records/draft_record.ts";
import type { MessageRow } from "../../records/message_record.ts";
import { type StoredAnswer, useKey } from "../../records/stored_answer.ts";
import { type KeptAnswer, putAnswerEnd } from "./keyed_answers.ts";

type Services = { blobs: Pick<Blobs, "drop"> };

/** By how much processes may differ in what the store has lived: each writes it down once a minute. */
const LIVED_SKEW_MS = 5 * MINUTE_MS;

/** In the commit that deletes a message. */
export function withdrawAnswers(
  transaction: Transaction,
  { blobs }: Services,
  row: MessageRow,
): void {
  for (const answer of row.answers ?? []) {
    const left = answer.draft === undefined
      ? deletedMessage(row, transaction.nowMs)
      : { status: "pending_approval", draft: deletedDraft(row.inboxId, answer.draft) };
    withdraw(transaction, { blobs }, row.orgId, answer, left);
  }
}

/** The same in the commit that deletes a draft. */
export function withdrawProposal(
  transaction: Transaction,
  { blobs }: Services,
  row: DraftRow,
): void {
  if (row.answer === undefined) return;
  const left = { status: "pending_approval", draft: deletedDraft(row.inboxId, row) };
  withdraw(transaction, { blobs }, row.orgId, row.answer, left);
}

function withdraw(
  transaction: Transaction,
  { blobs }: Services,
  orgId: string,
  answer: StoredAnswer,
  left: unknown,
): void {
  if (mayBeOver(answer, transaction)) return;
  const body = new TextEncoder().encode(JSON.stringify(left));
  const kept: KeptAnswer = { status: 202, body };
  putAnswer(transaction, useKey(orgId, answer.scope), kept);
  if (answer.blob !== null) blobs.drop(transaction, answer.blob);
  putAnswerEnd(transaction, orgId, { ...answer, rowBytes: body.length, blob: null });
  countOut(transaction, orgId, answer.rowBytes - body.length);
}

/**
 * Whether it must not be answered any more: the key may hold another answer by then, or the sweep may be
 * about to end it. Other processes may be ahead of this one by both clocks.
 */
function mayBeOver({ dueMs, livedMs }: StoredAnswer, transaction: Transaction): boolean {
  const atMs = dueMs - EXPIRY_MARGIN_MS - ANSWER_KEPT_MS;
  const isOverByWall = transaction.nowMs - atMs >= ANSWER_KEPT_MS - CLOCK_SKEW_MS;
  if (livedMs === undefined) return isOverByWall;
  const leftMs = ANSWER_KEPT_MS - (transaction.livedMs - livedMs);
  return isOverByWall && leftMs <= LIVED_SKEW_MS || leftMs <= -EXPIRY_MARGIN_MS / 2;
}
