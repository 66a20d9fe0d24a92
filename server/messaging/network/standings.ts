/**
 * Every sender's count in the trailing window, and everybody's by the hour, as the store has them now
 * (tally_rows.ts). The counts are kept in memory and updated by what was folded since. The cost of a
 * read therefore does not grow with messages or senders.
 */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { firstCountedMinute, minuteOf, MINUTES_AN_HOUR, WINDOW_MINUTES } from "./counted.ts";
import type { Standing } from "./ranking.ts";
import {
  checkpointKey,
  type CheckpointRow,
  type Count,
  type CountsRow,
  decodeCounts,
  decodePart,
  deltaKey,
  hourOf,
  logKey,
  partKey,
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
/**
 * Rows and folds in memory at the same time, some 25,000 counts: a relay that was down, or folds
 * a million counts, reads far more of them in all.
 */
const FOLDS_A_SLICE = 4;
const ROWS_A_SLICE = 50;

export class Standings {
  #folded: Folded | null = null;
  /** Raised whenever the folded counts change. */
  revision = 0;

  constructor(
    private readonly store: Rows,
    private readonly now: () => number,
    private readonly windowMinutes = WINDOW_MINUTES,
  ) {}

  /** The counts at this moment. Must not be called twice at the same time. */
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
    return this.store.get<TallyState>(TALLY_STATE);
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
    const known = this.#folded;
    // What fails half-way may have missed rows: memory starts over then.
    this.#folded = null;
    if (known !== null && known.seq <= seq) {
      const knownSeq = known.seq;
      await this.#leave(known, firstMinute);
      const complete = await this.#addLogs(known, seq);
      if (complete || knownSeq >= (checkpoint?.seq ?? 0)) {
        this.#folded = known;
        return complete;
      }
    }
    this.revision++;
    const { folded, complete } = await this.#load(checkpoint);
    if (folded === null) return false;
    await this.#leave(folded, firstMinute);
    const followed = await this.#addLogs(folded, seq);
    this.#folded = folded;
    return complete && followed;
  }

  /**
   * Adds the folds up to this one, some at a time: all at once, a million counts held the thread for
   * three seconds, and the heap grew by 150 MiB that it then kept for long.
   * @returns false when some of them are gone
   */
  async #addLogs(folded: Folded, seq: number): Promise<boolean> {
    let complete = true;
    while (folded.seq < seq) {
      const upTo = Math.min(seq, folded.seq + FOLDS_A_SLICE);
      const selector = { start: logKey.under(folded.seq + 1), end: logKey.under(upTo + 1) };
      const rows = await this.store.list<CountsRow>(selector, BATCH);
      complete &&= new Set(rows.map(({ key }) => key[2])).size === upTo - folded.seq;
      this.revision++;
      for (const { value } of rows) {
        for (const count of decodeCounts(value)) {
          if (count.minute < folded.firstMinute) continue;
          add(folded.counts, count, count.count);
          addToHour(folded.hours, count.minute, count.count);
        }
      }
      folded.seq = upTo;
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
    const prefix = checkpointKey.under(checkpoint.name);
    const listed = await this.store.list<CheckpointRow>({ prefix }, { batchSize: 20 });
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

  /** The hours of a checkpoint that was written without them. */
  async #readHours(
    hours: Map<number, number>,
    upToSeq: number,
    firstMinute: number,
  ): Promise<void> {
    const lastHour = hourOf(minuteOf(this.now()));
    const firstHour = hourOf(Math.max(firstMinute, this.#firstMinute()));
    const endMinute = (lastHour + 1) * MINUTES_AN_HOUR;
    const from = Math.max(firstMinute, firstHour * MINUTES_AN_HOUR);
    for await (const { minute, count } of this.#parts(from, endMinute, upToSeq)) {
      addToHour(hours, minute, count);
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
      for await (const { senderId, count } of this.#parts(from, firstMinute, seq)) {
        leaving.set(senderId, (leaving.get(senderId) ?? 0) + count);
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

  /** What was folded of some minutes, up to a fold; some rows are in memory at a time. */
  async *#parts(
    firstMinute: number,
    endMinute: number,
    upToSeq: number,
  ): AsyncGenerator<Pick<Count, "senderId" | "minute" | "count">> {
    const start = partKey.under(hourOf(firstMinute));
    const end = partKey.under(hourOf(endMinute - 1) + 1);
    const batches = this.store.batches<PartRow>({ start, end }, { batchSize: ROWS_A_SLICE });
    for await (const rows of batches) {
      for (const { key, value } of rows) {
        if (key[3] as number > upToSeq) continue;
        for (const part of decodePart(value)) {
          if (part.minute >= firstMinute && part.minute < endMinute) yield part;
        }
      }
    }
  }

  async #unfolded(firstMinute: number): Promise<Count[]> {
    const counts: Count[] = [];
    for (const { value } of await this.store.list<CountsRow>({ prefix: deltaKey.under() }, BATCH)) {
      for (const count of decodeCounts(value)) if (count.minute >= firstMinute) counts.push(count);
    }
    return counts;
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
