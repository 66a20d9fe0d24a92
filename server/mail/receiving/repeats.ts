/** Repetitions of a message: the same bytes and envelope sender for one inbox within a day. */
import { Buffer } from "node:buffer";
import { type Mark, momentOf, Repetitions } from "../../base/idempotency/repetitions.ts";
import { sha256Of } from "../../base/slices/sha256_of.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { NewMessage } from "../mailbox/messages/stage_message.ts";
import { cameBytes, type ReceivedMail } from "./received_mail.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

export const REPEATED_MAILS = new Repetitions<Mark>({ name: "mail-repeat", lifeMs: DAY_MS });

type InboxRef = Pick<NewMessage, "orgId" | "inboxId">;

/** A row, since each mail has one, and the record of its mailbox guards it. */
const repeatRowKey = defineRow<[orgId: string, inboxId: string, hash: string]>(["mail-repeat"], 3, {
  holds: "when these bytes from this sender were stored: a repetition is not stored again",
  expires: "24 h, then swept",
});

/** What tells of such a message, however long ago. */
export async function readRepeat(
  store: Pick<Store, "get">,
  { orgId, inboxId }: InboxRef,
  hash: string,
): Promise<Mark | null> {
  return (await store.get<Mark>(repeatRowKey(orgId, inboxId, hash))).value;
}

/** Whether what was read tells of such a message within a day. */
export function isRepeat(store: Pick<Store, "now" | "lived">, mark: Mark | null): mark is Mark {
  return REPEATED_MAILS.standing(mark, momentOf(store)) !== null;
}

/**
 * In the commit that stores it, or hears of it once more.
 * @param former what was read in its place
 */
export function stageRepeat(
  transaction: Transaction,
  { orgId, inboxId }: InboxRef,
  hash: string,
  former: Mark | null,
): void {
  const { nowMs: atMs, livedMs } = transaction;
  const key = repeatRowKey(orgId, inboxId, hash);
  REPEATED_MAILS.replace(transaction, key, { v: 1, atMs, livedMs }, former);
}

/**
 * Hash that a repetition of a message is recognised by: SHA-256, base64url.
 * @param content SHA-256 of the bytes that came, where it is known
 */
export async function repeatKeyOf(
  mail: Pick<ReceivedMail, "from" | "raw" | "traceBytes">,
  content?: Uint8Array,
): Promise<string> {
  content ??= await sha256Of(cameBytes(mail));
  const sender = new TextEncoder().encode(mail.from);
  const hash = await sha256Of(Buffer.concat([content, sender]));
  return Buffer.from(hash).toString("base64url");
}
