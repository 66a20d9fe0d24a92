/**
 * Finds rows whose due time was set by a clock that was ahead: at a time still to come, or further ahead than
 * the rules of their kind allow. They would wait until that time comes, and are due now.
 *
 * The index has the due times of each destination apart. A round goes by its destinations, each from what is
 * due soon on, a bounded part of the index and of its rows at each look.
 */
import { CLOCK_SKEW_MS } from "../time/clock_skew.ts";
import type { HeldRowServices } from "./held_row.ts";
import { type Freed, makeDueNow } from "./make_due_now.ts";
import type { OutgoingHandler } from "./outgoing_handler.ts";
import { laneKey, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

/** Reads of the index at one look, and rows of each: one for each destination, or for some together. */
const READS = 10;
const AT_ONCE = 50;

type PausesOf = Pick<OutgoingHandler, "longestPauseMs" | "triedMs">;

export class FarAhead {
  /** Where the round goes on; null for its beginning. */
  #start: Deno.KvKey | null = null;

  /**
   * Looks at the next part of the index, and makes due now what it finds.
   * @param handlerOf of a kind; rows of kinds without one are left alone
   * @returns whether the round is finished
   */
  async look(
    services: HeldRowServices,
    handlerOf: (kind: string) => PausesOf | undefined,
    freed: Freed,
  ): Promise<boolean> {
    const { store } = services;
    const { now } = store;
    for (let reads = 0; reads < READS; reads++) {
      const soonMs = now() + CLOCK_SKEW_MS;
      const latestOf = (kind: string) => handlerOf(kind) === undefined ? Infinity : soonMs;
      const prefix = laneKey.under();
      const selector = this.#start === null ? { prefix } : { prefix, start: this.#start };
      const rows = await store.list(selector, { limit: AT_ONCE });
      const late = rows.filter(({ key }) => dueMsOf(key) > latestOf(kindOf(key)));
      await Promise.all(late.map(async ({ key }) => {
        const isFar = (row: OutgoingRow) =>
          row.lease === null && isFarAhead(row, handlerOf(row.kind)!, now());
        // What is as it should be is left alone without a commit.
        const id = key.at(-1) as string;
        const { value } = await store.get<OutgoingRow>(outgoingKey(id));
        if (value === null || isFar(value)) await makeDueNow(services, key, isFar, freed);
      }));
      const last = rows.at(-1)?.key;
      if (last === undefined || rows.length < AT_ONCE) {
        this.#start = null;
        return true;
      }
      this.#start = afterwards(last, latestOf(kindOf(last)));
    }
    return false;
  }
}

const kindOf = (key: Deno.KvKey): string => key[1] as string;
const dueMsOf = (key: Deno.KvKey): number => key[3] as number;

/** Where to read on: what is due soon at the last destination that was read is passed over. */
function afterwards(last: Deno.KvKey, latestMs: number): Deno.KvKey {
  if (dueMsOf(last) > latestMs) return [...last, true];
  const lane = last.slice(0, 3);
  // A key after every number: the end of the destination's rows.
  return [...lane, latestMs === Infinity ? true : latestMs + 1];
}

/** Whether a row that nobody holds is due later than any wait under a right clock would make it. */
function isFarAhead(row: OutgoingRow, handler: PausesOf, nowMs: number): boolean {
  const soonMs = nowMs + CLOCK_SKEW_MS;
  const pauseMs = setAtMs(row) > soonMs ? 0 : handler.longestPauseMs;
  return row.dueMs > Math.max(soonMs + pauseMs, chosenMs(row, handler));
}

/** When its due time was set; -Infinity where a former version put it back, and did not say. */
function setAtMs({ dueSetAtMs, queuedAtMs, lastReason }: OutgoingRow): number {
  return dueSetAtMs ?? (lastReason === null ? queuedAtMs : -Infinity);
}

/** The latest first due time of a row that its sender has put off, else -Infinity. */
function chosenMs(
  { dueMs, dueSetAtMs, endsAtMs, queuedAtMs, attempts, lastReason }: OutgoingRow,
  { triedMs }: PausesOf,
): number {
  if (triedMs === undefined || dueSetAtMs !== undefined) return -Infinity;
  if (endsAtMs === undefined) {
    // From a former version: a row never tried is due when its sender said.
    return attempts === 0 && lastReason === null && dueMs > queuedAtMs ? dueMs : -Infinity;
  }
  const startMs = endsAtMs - triedMs;
  return startMs > queuedAtMs ? startMs + CLOCK_SKEW_MS : -Infinity;
}
