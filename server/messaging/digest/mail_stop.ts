/**
 * Addresses that get no digest, for any agent. The reader of the mailbox decides it, with
 * the token of a digest that came there (docs/digest.md). The store has only a keyed
 * hash of the mailbox.
 */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { createHmac } from "node:crypto";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { mailboxAddress } from "../../base/mailer/mailbox_address.ts";

export const STOP_MS = 365 * DAY_MS;

/** ["digest-stop", mailbox hash] */
export interface StopRecord {
  v: 1;
  untilMs: number;
}

/** HMAC-SHA-256 of a mailbox under the relay's address key, base64url. */
export function hashMailbox(addressKey: Uint8Array, email: string): string {
  return createHmac("sha256", addressKey).update(`mailbox\n${mailboxAddress(email)}`)
    .digest("base64url");
}

export const stopKey = defineRecord<StopRecord, [mailboxHash: string]>(["digest-stop"], 1, {
  holds: "no digest goes to this address, whatever agent names it",
  expires: "1 y",
});

/** Whether digests to the mailbox of this record are stopped. */
export function isStopped(record: StopRecord | null, nowMs: number): boolean {
  return record !== null && nowMs < record.untilMs;
}

/** Stops digests to a mailbox for a year, inside the plan of a job. */
export function stageStop(transaction: Transaction, mailboxHash: string): void {
  const key = stopKey(mailboxHash);
  const untilMs = transaction.nowMs + STOP_MS;
  // A second use on the same day changes nothing.
  const before = transaction.record(key);
  if (before !== null && before.untilMs > untilMs - DAY_MS) return;
  transaction.putRecord(key, { v: 1, untilMs }, STOP_MS + EXPIRY_MARGIN_MS);
}
