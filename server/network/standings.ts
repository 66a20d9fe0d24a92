/**
 * Every sender's count in the trailing window, and everybody's by the hour, as the store has them now
 * (tally_rows.ts). The counts are kept in memory and updated by what was folded since. The cost of a
 * read therefore does not grow with messages or senders.
 */
import { listRows } from "../storage/list_rows.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { firstCountedMinute, minuteOf, WINDOW_MINUTES } from "./counted.ts";
import type { Standing } from "./ranking.ts";
import {
  checkpointPrefix,
  type CheckpointRow,
  type Count,
  type CountsRow,
  decodeCounts,
  DELTA_PREFIX,
  hourOf,
  LOG_PREFIX,
  PART_PREFIX,
  type PartRow,
  TALLY_STATE,
  type TallyState,
} from "./tally_rows.ts";

/** What was folded: counts of the minutes from `firstMinute` on, up to fold `seq`. */
export interface Folded {
  seq: number;
  firstMinute: number;
  counts: Map<number, Standing>;
  /** Messages of all senders by the hour since 1970; the first one may reach outside the window. */
  hours: Map<number, number>;
}

export interface StandingsNow {
  folded: Folded;
  /** What was not folded yet, without minutes outside the window. */
  since: Count[];
}

const ATTEMPTS = 50;
const BATCH = { batchSize: 200 };

export class Standings {
  #folded: Folded | null = null;
  /** Raised whenever the folded counts change. */
  revision = 0;

  constructor(
    private readonly kv: Deno.Kv,
    private readonly now: () => number,
    private readonly windowMinutes = WINDOW_MINUTES,
  ) {}

  /** The counts at this moment. Must not be called twice at one time. */
  async read(): Promise<StandingsNow> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const state = await this.#state();
      const certain = await this.#bringUpTo(state.value, this.#firstMinute());
      const folded = this.#folded;
      if (folded === null) continue;
      const since = await this.#unfolded(folded.firstMinute);
      // A fold in between would have moved deltas from rows that were not read yet.
      if ((await this.#state()).versionstamp === state.versionstamp) return { folded, since };
      if (!certain) this.#folded = null;
    }
    throw new Error("the leaderboard's counts change faster than they can be read");
  }

  #firstMinute(): number {
    return firstCountedMinute(this.now(), this.windowMinutes);
  }

  #state(): Promise<Deno.KvEntryMaybe<TallyState>> {
    return retryWhileLocked(() => this.kv.get<TallyState>(TALLY_STATE));
  }

  /**
   * Adds what was folded since; begins at the checkpoint when memory has nothing or is too far
   * behind.
   * @returns false when rows were missing: they expired, or a checkpoint replaced them since the
   * state was read
   */
  async #bringUpTo(state: TallyState | null, firstMinute: number): Promise<boolean> {
    const seq = state?.seq ?? 0;
    const checkpoint = state?.checkpoint ?? null;
    if (this.#folded !== null && this.#folded.seq <= seq) {
      await this.#leave(this.#folded, firstMinute);
      const complete = await this.#addLogs(this.#folded, seq);
      if (complete || this.#folded.seq >= (checkpoint?.seq ?? 0)) {
        this.#folded.seq = seq;
        return complete;
      }
    }
    this.revision++;
    this.#folded = null;
    const { folded, complete } = await this.#load(checkpoint);
    if (folded === null) return false;
    await this.#leave(folded, firstMinute);
    const followed = await this.#addLogs(folded, seq);
    folded.seq = seq;
    this.#folded = folded;
    return complete && followed;
  }

  /** Adds the folds up to this one. @returns false when some of them are gone */
  async #addLogs(folded: Folded, seq: number): Promise<boolean> {
    if (folded.seq === seq) return true;
    const seen = new Set<number>();
    const counts: Count[] = [];
    const selector = { start: [...LOG_PREFIX, folded.seq + 1], end: [...LOG_PREFIX, seq + 1] };
    for (const { key, value } of await listRows<CountsRow>(this.kv, selector, BATCH)) {
      seen.add(key[2] as number);
      counts.push(...decodeCounts(value));
    }
    const complete = seen.size === seq - folded.seq;
    this.revision++;
    for (const count of counts) {
      if (count.minute < folded.firstMinute) continue;
      add(folded.counts, count, count.count);
      addToHour(folded.hours, count.minute, count.count);
    }
    return complete;
  }

  async #load(
    checkpoint: TallyState["checkpoint"],
  ): Promise<{ folded: Folded | null; complete: boolean }> {
    const counts = new Map<number, Standing>();
    const hours = new Map<number, number>();
    if (checkpoint === null) {
      return { folded: { seq: 0, firstMinute: 0, counts, hours }, complete: true };
    }
    let rows = 0;
    let hasHours = false;
    const prefix = checkpointPrefix(checkpoint.name);
    const listed = await listRows<CheckpointRow>(this.kv, { prefix }, { batchSize: 20 });
    for (const { value } of listed) {
      rows++;
      for (let i = 0; i < value.counts.length; i += 3) {
        const [senderId, handle, count] = value.counts.slice(i, i + 3) as [number, string, number];
        counts.set(senderId, { senderId, handle, count });
      }
      if (value.hours === undefined) continue;
      hasHours = true;
      for (let i = 0; i < value.hours.length; i += 2) {
        hours.set(value.hours[i]!, value.hours[i + 1]!);
      }
    }
    const { seq, firstMinute } = checkpoint;
    const complete = rows === checkpoint.rows;
    // The rows that have expired counted only minutes that have left the window.
    const outlived = this.#firstMinute() - firstMinute > WINDOW_MINUTES;
    if (!complete && !outlived) return { folded: null, complete };
    if (!complete) {
      counts.clear();
      hours.clear();
    } else if (!hasHours) await this.#readHours(hours, seq, firstMinute);
    return { folded: { seq, firstMinute, counts, hours }, complete };
  }

  /** The hours of a checkpoint that was written without them, one after the other: memory has one. */
  async #readHours(
    hours: Map<number, number>,
    upToSeq: number,
    firstMinute: number,
  ): Promise<void> {
    const lastHour = hourOf(minuteOf(this.now()));
    const firstHour = hourOf(Math.max(firstMinute, this.#firstMinute()));
    for (let hour = firstHour; hour <= lastHour; hour++) {
      const rows = await listRows<PartRow>(this.kv, { prefix: [...PART_PREFIX, hour] }, BATCH);
      for (const { key, value } of rows) {
        if (key[3] as number > upToSeq) continue;
        for (let i = 0; i < value.counts.length; i += 3) {
          const minute = value.counts[i]!;
          if (minute >= firstMinute) addToHour(hours, minute, value.counts[i + 2]!);
        }
      }
    }
  }

  /** Subtracts the minutes that have left the window. */
  async #leave(folded: Folded, firstMinute: number): Promise<void> {
    const { firstMinute: from, counts, hours, seq } = folded;
    if (firstMinute <= from) return;
    const leaving = new Map<number, number>();
    // Everything counted by then has left the window, and its parts may have expired.
    const outlived = firstMinute - from > WINDOW_MINUTES;
    if (!outlived) {
      const selector = {
        start: [...PART_PREFIX, hourOf(from)],
        end: [...PART_PREFIX, hourOf(firstMinute - 1) + 1],
      };
      for (const { key, value } of await listRows<PartRow>(this.kv, selector, BATCH)) {
        if (key[3] as number > seq) continue;
        for (let i = 0; i < value.counts.length; i += 3) {
          const [minute, senderId, count] = value.counts.slice(i, i + 3) as [
            number,
            number,
            number,
          ];
          if (minute < from || minute >= firstMinute) continue;
          leaving.set(senderId, (leaving.get(senderId) ?? 0) + count);
        }
      }
    }
    this.revision++;
    folded.firstMinute = firstMinute;
    if (outlived) counts.clear();
    for (const hour of hours.keys()) if (hour < hourOf(firstMinute)) hours.delete(hour);
    for (const [senderId, count] of leaving) {
      const standing = counts.get(senderId);
      if (standing === undefined) continue;
      if (standing.count === count) counts.delete(senderId);
      else add(counts, standing, -count);
    }
  }

  async #unfolded(firstMinute: number): Promise<Count[]> {
    return await retryWhileLocked(async () => {
      const counts: Count[] = [];
      for await (const { value } of this.kv.list<CountsRow>({ prefix: DELTA_PREFIX }, BATCH)) {
        for (const count of decodeCounts(value)) {
          if (count.minute >= firstMinute) counts.push(count);
        }
      }
      return counts;
    });
  }
}

/**
 * Adds to a sender's count. A count of zero is kept, since a deduction in it may leave the window
 * first.
 */
function add(
  counts: Map<number, Standing>,
  { senderId, handle }: Pick<Standing, "senderId" | "handle">,
  count: number,
): void {
  const total = (counts.get(senderId)?.count ?? 0) + count;
  counts.set(senderId, { senderId, handle, count: total });
}

function addToHour(hours: Map<number, number>, minute: number, count: number): void {
  const hour = hourOf(minute);
  hours.set(hour, (hours.get(hour) ?? 0) + count);
}
