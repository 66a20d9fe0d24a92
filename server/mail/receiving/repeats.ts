/** Repetitions of a message: the same bytes and envelope sender for one inbox within a day. */
import { Buffer } from "node:buffer";
import { sha256Of } from "../../base/slices/sha256_of.ts";
import {
  momentOf,
  repetitionKey,
  stageRepetition,
  stillStands,
  type Written,
} from "../../base/idempotency/repetition.ts";
import type { RepetitionKind } from "../../base/idempotency/repetition_sweep.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { NewMessage } from "../mailbox/messages/stage_message.ts";
import type { ReceivedMail } from "./received_mail.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

export const REPEATED_MAILS: RepetitionKind = { name: "mail-repeat" };

const repeatRowKey = defineRow<[orgId: string, inboxId: string, hash: string]>(["mail-repeat"], 3, {
  holds: "when these bytes from this sender were stored: a repetition is not stored again",
  expires: "24 h, then swept",
});

export interface RepeatRow extends Written {
  v: 1;
}

type InboxRef = Pick<NewMessage, "orgId" | "inboxId">;

/** The row of the index of a row of this kind. */
export function repeatIndexKey({ key, value }: Deno.KvEntry<unknown>): Deno.KvKey {
  return repetitionKey(key, value as RepeatRow, DAY_MS);
}

/** When such a message was stored within a day; null where none was. */
export async function findRepeat(
  store: Pick<Store, "get" | "now" | "lived">,
  { orgId, inboxId }: InboxRef,
  hash: string,
): Promise<RepeatRow | null> {
  const key = repeatRowKey(orgId, inboxId, hash);
  const { value } = await store.get<RepeatRow>(key);
  return value !== null && stillStands(value, DAY_MS, momentOf(store)) ? value : null;
}

/**
 * In the commit that stores it, or hears of it once more.
 * @param former what stands in its place
 */
export function stageRepeat(
  transaction: Transaction,
  { orgId, inboxId }: InboxRef,
  hash: string,
  former: RepeatRow | null = null,
): void {
  const key = repeatRowKey(orgId, inboxId, hash);
  if (former !== null) transaction.delete(repetitionKey(key, former, DAY_MS));
  const row: RepeatRow = { v: 1, atMs: transaction.nowMs, livedMs: transaction.livedMs };
  transaction.set(key, row);
  stageRepetition(transaction, key, DAY_MS);
}

/**
 * Hash of a message by which its repetition is known: SHA-256, base64url.
 * @param content SHA-256 of its bytes
 */
export async function repeatKeyOf(
  { from }: Pick<ReceivedMail, "from">,
  content: Uint8Array,
): Promise<string> {
  const sender = new TextEncoder().encode(from);
  const hash = await sha256Of(Buffer.concat([content, sender]));
  return Buffer.from(hash).toString("base64url");
}
