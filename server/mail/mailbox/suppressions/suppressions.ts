/**
 * Addresses that an org writes to no more, since one of its mails bounced hard there or its reader
 * complained (docs/mail.md, "Bounces and suppressed addresses").
 */
import type { Transaction } from "../../../base/storage/commits/job.ts";
import type { GroupCommit } from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import { defineRecord } from "../../../base/storage/commits/record_key.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { timestamp } from "../../../base/time/timestamp.ts";
import { type CallingKey, requireCaller } from "../../access/require_org.ts";
import { unknownObject } from "../../access/unknown_object.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

export type SuppressionReason = "hard_bounce" | "complaint";

export interface SuppressionRecord {
  v: 1;
  reason: SuppressionReason;
  /** The message that it came of. */
  messageId: string;
  createdAtMs: number;
}

/** The address is lowercased. */
export const suppressionKey = defineRecord<SuppressionRecord, [orgId: string, address: string]>(
  ["mail-suppression"],
  2,
  { holds: "an address that an org writes to no more, and why", expires: "until lifted" },
);

const orderKey = defineRow<[orgId: string, createdAtMs: number, address: string]>(
  ["mail-suppression-order"],
  3,
  { holds: "the same as a list" },
);

/** Tables with rows of an org, for its erasure. */
export const SUPPRESSION_TABLES = ["mail-suppression", "mail-suppression-order"] as const;

/** Suppresses an address; one that is already stays as it is. */
export function stageSuppression(
  transaction: Transaction,
  orgId: string,
  address: string,
  { reason, messageId }: Pick<SuppressionRecord, "reason" | "messageId">,
): void {
  const key = suppressionKey(orgId, address);
  if (transaction.record(key) !== null) return;
  const { nowMs: createdAtMs } = transaction;
  transaction.putRecord(key, { v: 1, reason, messageId, createdAtMs });
  transaction.set(orderKey(orgId, createdAtMs, address), { v: 1 });
}

export interface SuppressionServices {
  store: Store;
  records: Pick<RecordCache, "read">;
  commits: GroupCommit;
  limits: Pick<Limits, "mailTrialPurgeDays">;
}

/** Where a page of the list ends. */
export interface SuppressionPosition {
  createdAtMs: number;
  address: string;
}

/** A suppression with its address. */
export type Suppression = SuppressionRecord & { address: string };

export class Suppressions {
  constructor(private readonly services: SuppressionServices) {}

  /** The suppressed ones of the addresses, in their order. */
  async among(orgId: string, addresses: readonly string[]): Promise<string[]> {
    const { records } = this.services;
    const found = await Promise.all(
      addresses.map((address) => records.read(suppressionKey(orgId, address))),
    );
    return addresses.filter((_, i) => found[i] !== null);
  }

  /**
   * A page, the newest first.
   * @param after where the page before ended
   * @returns where this one ends, null where nothing follows
   */
  async list(
    orgId: string,
    after: SuppressionPosition | null,
    limit: number,
  ): Promise<{ suppressions: Suppression[]; last: SuppressionPosition | null }> {
    const store = this.services.store;
    const prefix = orderKey.under(orgId);
    const selector = after === null
      ? { prefix }
      : { prefix, end: orderKey(orgId, after.createdAtMs, after.address) };
    const rows = await store.list(selector, { limit: limit + 1, reverse: true });
    const places = rows.slice(0, limit).map(({ key }): SuppressionPosition => ({
      createdAtMs: key[2] as number,
      address: key[3] as string,
    }));
    const keys = places.map(({ address }) => suppressionKey(orgId, address));
    const suppressions: Suppression[] = [];
    for (const { key, value } of await store.getMany<SuppressionRecord[]>(keys)) {
      if (value !== null) suppressions.push({ ...value, address: key[2] as string });
    }
    return { suppressions, last: rows.length > limit ? places.at(-1)! : null };
  }

  /** Mail goes to the address again. @throws RelayError `not_found`, and as requireCaller() */
  async lift(caller: CallingKey, address: string): Promise<void> {
    const { commits, limits } = this.services;
    const orgId = caller.org.id;
    const key = suppressionKey(orgId, address);
    await commits.submit((transaction) => {
      requireCaller(transaction, caller, limits);
      const suppression = transaction.record(key);
      if (suppression === null) throw unknownObject("suppressed address");
      transaction.putRecord(key, null);
      transaction.delete(orderKey(orgId, suppression.createdAtMs, address));
    });
  }
}

export function shownSuppression({ address, reason, messageId, createdAtMs }: Suppression) {
  return { address, reason, message_id: messageId, created_at: timestamp(createdAtMs) };
}
