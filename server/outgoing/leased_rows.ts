/**
 * Finds rows whose holder is gone, by the index of leases alone, and puts them back for all
 * processes.
 */
import { listRows } from "../storage/list_rows.ts";
import { type HeldRowServices, sizeOfChange, stageChange } from "./held_row.ts";
import { dropStaleIndex } from "./stale_index.ts";
import { LEASED_PREFIX, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

/** The greatest size of a payload of any kind. */
const PAYLOAD_BYTES = 50_000;
/** Rows put back at one time. */
const AT_ONCE = 100;

/** Called for each row that was put back. */
export type Freed = (row: OutgoingRow) => void;

/** Puts back the rows that former processes of an exclusive store held. */
export async function freeAllLeases(services: HeldRowServices, freed: Freed): Promise<void> {
  const prefix = [LEASED_PREFIX];
  let selector: Deno.KvListSelector = { prefix };
  for (;;) {
    const rows: Deno.KvEntry<unknown>[] = await listRows(services.store.kv, selector, {
      limit: AT_ONCE,
    });
    if (rows.length === 0) return;
    await Promise.all(rows.map(({ key }) => freeRow(services, key, Infinity, freed)));
    selector = { prefix, start: [...rows.at(-1)!.key, true] };
  }
}

/**
 * Puts back rows whose lease is over.
 * @param isOurs rows that this process attempts; it takes care of them itself
 * @returns when the next lease is over, Infinity for none
 */
export async function freeLeasesThatAreOver(
  services: HeldRowServices,
  isOurs: (id: string) => boolean,
  freed: Freed,
): Promise<number> {
  const { kv, now } = services.store;
  const nowMs = now();
  const rows = await listRows(kv, { prefix: [LEASED_PREFIX] }, {
    limit: AT_ONCE,
    take: ({ key }) => !isOurs(key[2] as string),
  });
  const untilMs = ({ key }: Deno.KvEntry<unknown>) => key[1] as number;
  const over = rows.filter((row) => untilMs(row) <= nowMs);
  await Promise.all(over.map(({ key }) => freeRow(services, key, nowMs, freed)));
  if (over.length === AT_ONCE) return nowMs;
  const next = rows.find((row) => untilMs(row) > nowMs);
  return next === undefined ? Infinity : untilMs(next);
}

/** Puts back the row of a lease, unless the lease ends later than the given time. */
export async function freeRow(
  services: HeldRowServices,
  leaseKey: Deno.KvKey,
  endsByMs: number,
  freed: Freed,
): Promise<void> {
  const { store, records, commits } = services;
  const id = leaseKey.at(-1) as string;
  const key = outgoingKey(id);
  if (!store.exclusive) records.refresh(key);
  const { row } = await commits.submit<{ row: OutgoingRow | null }>({
    records: [key],
    sizeBytes: sizeOfChange(PAYLOAD_BYTES),
    proof: key,
    plan(turn) {
      const before = turn.record<OutgoingRow>(key);
      if (before === null || before.lease === null || before.dueMs > endsByMs) return { row: null };
      const row = { ...before, lease: null, dueMs: turn.nowMs, attempt: turn.attempt };
      stageChange(turn, id, before, row);
      return { row };
    },
  });
  if (row !== null) freed(row);
  else await dropStaleIndex(store.kv, leaseKey);
}
