/**
 * What an org counts: one record for each UTC day, with its hours. A commit that changes something
 * counts it; nothing is counted by looking at messages.
 */
import type { Transaction } from "../../base/storage/commits/job.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { DAY_MS, HOUR_MS } from "../../base/time/time_units.ts";

/** Events, counted in the hour they happen in. */
export type EventFigure =
  /** Messages stored for inboxes. */
  | "received"
  /** Recipients of messages that were accepted. */
  | "accepted"
  /** Recipients that bounced. */
  | "bounces";

/** Where the recipients of messages that were accepted in an hour stand now. */
export type StandingFigure =
  | "pending"
  | "deferred"
  | "sent"
  | "delivered"
  | "bouncedHard"
  | "bouncedSoft"
  | "complained"
  | "failed";

/** What has happened to recipients of messages that were accepted in an hour. */
export type FateFigure =
  /** The next hop took the mail, whatever came of it. */
  | "taken"
  /** A server refused it for good in the SMTP session. */
  | "refused";

export type Figure = EventFigure | StandingFigure | FateFigure;

/** What is not named is 0. */
export type Counts = { readonly [F in Figure]?: number };

export interface FiguresRecord {
  v: 1;
  /** By the hour of the day, 0 to 23; what is not there is 0. */
  hours: { readonly [hour: string]: Counts };
}

/** Days that are kept, the running one included. */
export const KEPT_DAYS = 91;

/** ["mail-figures", orgId, dayMs]: dayMs is the beginning of a UTC day. */
export const figuresKey = defineRecord<FiguresRecord, [orgId: string, dayMs: number]>(
  ["mail-figures"],
  2,
  { holds: "what an org counted on a UTC day, by the hour", expires: "91 d" },
);

export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}

/** What an org has counted in the UTC day of a time. */
export function hoursOf(
  transaction: Transaction,
  orgId: string,
  atMs: number,
): FiguresRecord["hours"] {
  return transaction.record(figuresKey(orgId, dayOf(atMs)))?.hours ?? {};
}

/**
 * Counts in the hour of a time. Of days that are no more kept nothing is counted.
 * @param counts may be negative where something stands elsewhere now
 */
export function count(transaction: Transaction, orgId: string, atMs: number, counts: Counts): void {
  const dayMs = dayOf(atMs);
  const leftMs = dayMs + KEPT_DAYS * DAY_MS - transaction.nowMs;
  if (leftMs <= 0) return;
  const before = hoursOf(transaction, orgId, atMs);
  const hour = String(Math.floor((atMs - dayMs) / HOUR_MS));
  const hours = { ...before, [hour]: added(before[hour] ?? {}, counts) };
  transaction.putRecord(figuresKey(orgId, dayMs), { v: 1, hours }, leftMs + EXPIRY_MARGIN_MS);
}

/** The sum of counts; what is 0 is left out. Pure. */
export function added(one: Counts, other: Counts): Counts {
  const sum: Partial<Record<Figure, number>> = { ...one };
  for (const [name, amount] of Object.entries(other) as [Figure, number][]) {
    const total = (sum[name] ?? 0) + amount;
    if (total === 0) delete sum[name];
    else sum[name] = total;
  }
  return sum;
}
