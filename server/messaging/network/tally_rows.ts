/**
 * The leaderboard's counts as the store holds them. No sum may be lost, and no send may have to
 * read a counter.
 *
 * - a **delta** is written by each group commit with counted sends, under a random key;
 * - a **fold** takes many deltas at once, deletes them, and writes what they hold twice. It writes
 *   **log** rows in the order of folds, and **parts** by the hour in which the sends were made;
 * - a **checkpoint** holds every sender's count as of some fold, from a first counted minute on.
 *
 * The standings are the checkpoint plus the later logs plus the deltas not folded yet. The minutes
 * that have left the window since the checkpoint are subtracted. Those are read from the parts.
 */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import { MINUTES_AN_HOUR, WINDOW_MINUTES } from "./counted.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** Sends of one sender in one minute, or, negative, what a ban took from them. */
export interface Count {
  senderId: number;
  handle: string;
  minute: number;
  count: number;
}

/** ["tally", "delta", attempt] and ["tally", "log", seq, n]: [senderId, handle, minute, count]... */
export interface CountsRow {
  v: 1;
  counts: readonly (number | string)[];
}

/** ["tally", "part", hour, seq, n]: [minute, senderId, count]... of the minutes of one hour */
export interface PartRow {
  v: 1;
  counts: readonly number[];
}

/** ["tally", "checkpoint", name, n]: [senderId, handle, count]... */
export interface CheckpointRow {
  v: 1;
  counts: readonly (number | string)[];
  /** In the first row: [hour, count]... of all senders; older checkpoints have none. */
  hours?: readonly number[];
}

/** ["tally", "state"] */
export interface TallyState {
  v: 1;
  /** Number of the last fold. */
  seq: number;
  checkpoint: Checkpoint | null;
}

export interface Checkpoint {
  /** The name in the keys of its rows. */
  name: string;
  /** The last fold it holds. */
  seq: number;
  /** The first minute it counts. */
  firstMinute: number;
  rows: number;
}

export const TALLY_STATE = defineRecord<TallyState>(["tally", "state"], 0, {
  holds: "number of the last fold, and the checkpoint in force",
})();
export const deltaKey = defineRow<[attempt: string]>(["tally", "delta"], 1, {
  holds: "what one group commit adds to the leaderboard, by sender and minute",
  expires: "7 d, until folded",
});
export const logKey = defineRow<[seq: number, n: number]>(["tally", "log"], 2, {
  holds: "what one fold took in, whole",
  expires: "7 d",
});
export const partKey = defineRow<[hour: number, seq: number, n: number]>(["tally", "part"], 3, {
  holds: "what one fold took in, by the hour of the sends",
  expires: "7 d",
});
export const checkpointKey = defineRow<[name: string, n: number]>(["tally", "checkpoint"], 2, {
  holds: "every sender's count as of some fold; the first row has everybody's by the hour too",
  expires: "7 d",
});

/** Counts in one row: under half of a value's maximum size, with handles of 32 characters. */
const COUNTS_A_ROW = 500;

/**
 * How long rows are kept: until nothing in them can be in the window, for parts until the hour's
 * last minute has left it.
 */
export const TALLY_KEPT_MS = (WINDOW_MINUTES + MINUTES_AN_HOUR) * MINUTE_MS + EXPIRY_MARGIN_MS;

export function hourOf(minute: number): number {
  return Math.floor(minute / MINUTES_AN_HOUR);
}

/** Merges counts of the same sender and minute; counts that cancel out are left out. */
export function mergeCounts(counts: Iterable<Count>): Count[] {
  const merged = new Map<string, Count>();
  for (const one of counts) {
    const name = `${one.minute}/${one.senderId}`;
    const known = merged.get(name);
    if (known === undefined) merged.set(name, { ...one });
    else known.count += one.count;
  }
  return [...merged.values()].filter(({ count }) => count !== 0);
}

export function encodeCounts(counts: readonly Count[]): CountsRow {
  return {
    v: 1,
    counts: counts.flatMap(({ senderId, handle, minute, count }) => [
      senderId,
      handle,
      minute,
      count,
    ]),
  };
}

export function* decodeCounts({ counts }: CountsRow): Generator<Count> {
  for (let i = 0; i < counts.length; i += 4) {
    yield {
      senderId: counts[i] as number,
      handle: counts[i + 1] as string,
      minute: counts[i + 2] as number,
      count: counts[i + 3] as number,
    };
  }
}

export function encodePart(counts: readonly Count[]): PartRow {
  return {
    v: 1,
    counts: counts.flatMap(({ minute, senderId, count }) => [minute, senderId, count]),
  };
}

export function* decodePart(
  { counts }: PartRow,
): Generator<Pick<Count, "minute" | "senderId" | "count">> {
  for (let i = 0; i < counts.length; i += 3) {
    yield { minute: counts[i]!, senderId: counts[i + 1]!, count: counts[i + 2]! };
  }
}

/** Splits counts into rows where one row cannot hold them; gives at least one row. */
export function inRows<T>(items: readonly T[], itemsARow = COUNTS_A_ROW): T[][] {
  const rows: T[][] = [];
  for (let from = 0; from < items.length; from += itemsARow) {
    rows.push(items.slice(from, from + itemsARow));
  }
  return rows.length > 0 ? rows : [[]];
}
