/**
 * The notification e-mail of an agent and its one unsubscribe token. One commit creates or deletes
 * both, together with a flag in the inbox record. The flag makes a send name its recipient as a
 * candidate for a digest (specification, sections 3 and 6; docs/digest.md, "When a digest is due").
 */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { inKey } from "../mailboxes/agent_mailboxes.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** ["notify", agentId]; absent for an agent that never had an address. */
export interface SubscriptionRecord {
  v: 1;
  /** Null once cleared; the record is then kept only for the time of the last notification. */
  email: string | null;
  /** When this address was set, unix ms. */
  setAtMs: number;
  /** Same for every digest to this address; as sensitive as the address. Null without one. */
  unsubscribeToken: string | null;
  /** When the last digest was recorded, to any address; null before the first. */
  lastNotifiedMs: number | null;
}

/** ["unsubscribe", SHA-256 of the token as base64url] */
export interface UnsubscribeRow {
  v: 1;
  agentId: number;
}

const TOKEN_PREFIX = "rt_unsub_";
const TOKEN_BYTES = 32;

export const subscriptionKey = defineRecord<SubscriptionRecord, [agentId: number]>(["notify"], 1, {
  holds: "notification e-mail, when it was set, its unsubscribe token, when the last digest " +
    "was recorded",
});
export const unsubscribeKey = defineRow<[tokenHash: string]>(["unsubscribe"], 1, {
  holds: "`{agentId}` of an unsubscribe token",
  expires: "with the address",
});

/** SHA-256 of an unsubscribe token, base64url. */
export function hashUnsubscribeToken(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

/**
 * Sets, replaces or clears the notification e-mail of an agent inside the plan of a job. The same
 * address again changes nothing and keeps its token. Another address gets a new token, and the old
 * one ends. Null ends both. The time of the last notification is kept, since the interval between
 * digests is the agent's, not the address's.
 * @param email a valid address, at most 320 characters, or null
 */
export function stageSubscription(
  transaction: Transaction,
  agentId: number,
  email: string | null,
  random: (sizeBytes: number) => Uint8Array,
): void {
  const key = subscriptionKey(agentId);
  const before = transaction.record(key);
  if ((before?.email ?? null) === email) return;
  const lastNotifiedMs = before?.lastNotifiedMs ?? null;
  if (before !== null && before.unsubscribeToken !== null) {
    transaction.delete(unsubscribeKey(hashUnsubscribeToken(before.unsubscribeToken)));
  }
  const after: SubscriptionRecord = {
    v: 1,
    email,
    setAtMs: transaction.nowMs,
    unsubscribeToken: null,
    lastNotifiedMs,
  };
  if (email !== null) {
    const token = TOKEN_PREFIX + Buffer.from(random(TOKEN_BYTES)).toString("base64url");
    after.unsubscribeToken = token;
    transaction.set(
      unsubscribeKey(hashUnsubscribeToken(token)),
      { v: 1, agentId } satisfies UnsubscribeRow,
    );
  }
  const nothingLeft = email === null && lastNotifiedMs === null;
  transaction.putRecord(key, nothingLeft ? null : after);
  const inbox = transaction.record(inKey(agentId))!;
  const notify = email !== null;
  if (inbox.notify !== notify) transaction.putRecord(inKey(agentId), { ...inbox, notify });
}
