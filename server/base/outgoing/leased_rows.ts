/**
 * Finds rows whose holder is gone, by the index of leases alone, and puts them back for all
 * processes.
 */
import { latestEndMs, leaseRuns, type LeaseTiming } from "../storage/leases/lease.ts";
import type { Row } from "../storage/rows/rows.ts";
import { type Freed, makeDueNow } from "./make_due_now.ts";
import type { HeldRowServices } from "./held_row.ts";
import { leasedKey, type OutgoingRow } from "./outgoing_row.ts";

/** Rows put back at a time. */
const AT_ONCE = 100;

/**
 * Puts back the rows that former processes of an exclusive store held: they are gone, whatever the time. A
 * clock is often set right while a relay starts, which is no reason for the start to fail.
 */
export async function freeAllLeases(services: HeldRowServices, freed: Freed): Promise<void> {
  const prefix = leasedKey.under();
  let selector: Deno.KvListSelector = { prefix };
  for (;;) {
    const rows: Row<unknown>[] = await services.store.list(selector, { limit: AT_ONCE });
    if (rows.length === 0) return;
    await Promise.all(rows.map(({ key }) => makeDueNow(services, key, isHeld, freed, true)));
    selector = { prefix, start: [...rows.at(-1)!.key, true] };
  }
}

const isHeld = ({ lease }: OutgoingRow): boolean => lease !== null;

/** Whether a row is held by a lease that is over: its end holds the difference of the clocks already. */
export function isLeaseOver(row: OutgoingRow, timing: LeaseTiming, nowMs: number): boolean {
  return isHeld(row) && !leaseRuns(row.dueMs - timing.clockSkewMs, timing, nowMs);
}

/**
 * Puts back rows whose lease is over, and those whose lease ends further ahead than any can: not within
 * one lease of a leap, in which holders that live renew theirs by the new time.
 * @param isOurs rows that this process attempts; it takes care of them itself
 * @returns when the next lease is over, Infinity for none
 */
export async function freeLeasesThatAreOver(
  services: HeldRowServices,
  isOurs: (id: string) => boolean,
  freed: Freed,
): Promise<number> {
  const { store, timing } = services;
  const { now, clock } = store;
  const nowMs = now();
  const list = (selector: Deno.KvListSelector): Promise<Row<unknown>[]> =>
    store.list(selector, { limit: AT_ONCE, take: ({ key }) => !isOurs(key[2] as string) });
  const prefix = leasedKey.under();
  const rows = await list({ prefix });
  const untilMs = ({ key }: Row<unknown>) => key[1] as number;
  const over = rows.filter((row) => untilMs(row) <= nowMs);
  const latestMs = latestEndMs(timing, nowMs) + timing.clockSkewMs;
  const mayBeRenewed = clock.sinceLeapMs <= timing.leaseMs + timing.clockSkewMs;
  const ahead = mayBeRenewed ? [] : await list({ prefix, start: [...prefix, latestMs + 1] });
  const isOver = (row: OutgoingRow) => isLeaseOver(row, timing, now());
  await Promise.all(
    [...over, ...ahead].map(({ key }) => makeDueNow(services, key, isOver, freed)),
  );
  if (over.length === AT_ONCE || ahead.length === AT_ONCE) return nowMs;
  const next = rows.find((row) => untilMs(row) > nowMs);
  return next === undefined ? Infinity : untilMs(next);
}
