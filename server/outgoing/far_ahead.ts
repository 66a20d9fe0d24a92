/**
 * Finds rows that are due further ahead than the rules of their kind allow: a clock that was wrong ahead
 * has put them back, and they would wait until that time comes. They are due now.
 *
 * The index has the due times of each destination apart. A round goes by its destinations, each from the
 * latest time that may be, a bounded part of the index at each look.
 */
import { CLOCK_SKEW_MS } from "../clock_skew.ts";
import type { HeldRowServices } from "./held_row.ts";
import { type Freed, makeDueNow } from "./make_due_now.ts";
import type { OutgoingHandler } from "./outgoing_handler.ts";
import { LANE_PREFIX, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

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
      const nowMs = now();
      const latestOf = (kind: string) => {
        const handler = handlerOf(kind);
        return handler === undefined ? Infinity : latestPauseEndMs(handler, nowMs);
      };
      const prefix = [LANE_PREFIX];
      const selector = this.#start === null ? { prefix } : { prefix, start: this.#start };
      const rows = await store.list(selector, { limit: AT_ONCE });
      const late = rows.filter(({ key }) => dueMsOf(key) > latestOf(kindOf(key)));
      await Promise.all(late.map(async ({ key }) => {
        const isFar = (row: OutgoingRow) =>
          row.lease === null && isFarAhead(row, handlerOf(row.kind)!, now());
        // What its sender chose is left alone without a commit.
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

/** Where to read on: what is due in time at the last destination that was read is passed over. */
function afterwards(last: Deno.KvKey, latestMs: number): Deno.KvKey {
  if (dueMsOf(last) > latestMs) return [...last, true];
  const lane = last.slice(0, 3);
  // A key after every number: the end of the destination's rows.
  return [...lane, latestMs === Infinity ? true : latestMs + 1];
}

function latestPauseEndMs({ longestPauseMs }: PausesOf, nowMs: number): number {
  return nowMs + longestPauseMs + CLOCK_SKEW_MS;
}

/** Whether a row that nobody holds is due later than any rule has it wait. */
export function isFarAhead(row: OutgoingRow, handler: PausesOf, nowMs: number): boolean {
  return row.dueMs > Math.max(latestPauseEndMs(handler, nowMs), chosenMs(row, handler));
}

/** The latest first due time of what its sender has put off, else -Infinity. */
function chosenMs(
  { dueMs, endsAtMs, queuedAtMs, attempts, lastReason }: OutgoingRow,
  { triedMs }: PausesOf,
): number {
  if (triedMs === undefined) return -Infinity;
  if (endsAtMs === undefined) {
    // Of a former version: what nothing was tried of is due when its sender said.
    return attempts === 0 && lastReason === null && dueMs > queuedAtMs ? dueMs : -Infinity;
  }
  const startMs = endsAtMs - triedMs;
  return startMs > queuedAtMs ? startMs + CLOCK_SKEW_MS : -Infinity;
}
