/**
 * GET /v1/leaderboard: who sent most in the trailing seven days (specification, 2.8 and 4.1); and how
 * many sent and were sent in them, for pages.
 */
import type { Rows } from "../../base/storage/rows/rows.ts";
import type { Identities } from "../agents/identities.ts";
import { coalesceRuns } from "../../base/storage/leases/coalesce_runs.ts";
import { DAY_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import { MINUTES_AN_HOUR } from "./counted.ts";
import { hiddenAgents } from "./read_feed.ts";
import { selectTop, type Standing } from "./ranking.ts";
import type { Standings, StandingsNow } from "./standings.ts";
import type { Count } from "./tally_rows.ts";

/** Entries of the longest page. */
export const MAX_LEADERS = 100;

export interface LeaderboardEntry {
  handle: string;
  word_name: string;
  message_count: number;
}

/** What was counted in the trailing window. */
export interface Week {
  /** Agents that sent. */
  senders: number;
  /** Counted messages of the last seven days of UTC, the oldest first; today is the last one. */
  days: { startMs: number; messages: number }[];
}

const DAYS_A_WEEK = 7;

export class Leaderboard {
  /** The first entries of the folded counts, and how many sent, as of a revision of them. */
  #leaders: { revision: number; top: Standing[]; senders: number } = {
    revision: -1,
    top: [],
    senders: 0,
  };
  readonly #read: () => Promise<{ top: Standing[]; week: Week }>;

  constructor(
    private readonly options: {
      store: Rows;
      identities: Identities;
      now: () => number;
      standings: Standings;
      /** Reads the standings, shared among callers. */
      readStandings: () => Promise<StandingsNow>;
    },
  ) {
    this.#read = coalesceRuns(() => this.#rank());
  }

  /** The first entries of the leaderboard, and what the window came to. */
  async read(limit: number): Promise<{ leaders: LeaderboardEntry[]; week: Week }> {
    const { top, week } = await this.#read();
    const leaders = await Promise.all(
      top.slice(0, limit).map(async (standing) => {
        const { senderId, handle, count } = standing;
        const { wordName } = await this.options.identities.byId(senderId);
        return { handle, word_name: wordName, message_count: count };
      }),
    );
    return { leaders, week };
  }

  async #rank(): Promise<{ top: Standing[]; week: Week }> {
    const hidden = await hiddenAgents(this.options.store);
    const { folded: { counts, hours }, since } = await this.options.readStandings();
    const changed = new Map<number, Standing>();
    for (const { senderId, handle, count } of since) {
      const known = changed.get(senderId) ?? counts.get(senderId);
      changed.set(senderId, { senderId, handle, count: (known?.count ?? 0) + count });
    }
    const shown = ({ senderId }: Standing) => !hidden.has(senderId);
    // A sender that gained can overtake the leaders; no other sender moves up.
    const gainsOnly = since.every(({ count }) => count > 0);
    const folded = this.#leadersOf(counts);
    const candidates = gainsOnly && hidden.size === 0 ? folded.top : counts.values();
    let { senders } = folded;
    for (const [senderId, { count }] of changed) {
      senders += Number(count > 0) - Number(isSender(counts.get(senderId)));
    }
    for (const senderId of hidden) {
      if (isSender(changed.get(senderId) ?? counts.get(senderId))) senders--;
    }
    return {
      top: selectTop(present(candidates, changed, shown), MAX_LEADERS),
      week: { senders, days: daysOf(hours, since, this.options.now()) },
    };
  }

  #leadersOf(counts: ReadonlyMap<number, Standing>): { top: Standing[]; senders: number } {
    const { revision } = this.options.standings;
    if (this.#leaders.revision !== revision) {
      let senders = 0;
      for (const standing of counts.values()) if (isSender(standing)) senders++;
      this.#leaders = { revision, top: selectTop(counts.values(), MAX_LEADERS), senders };
    }
    return this.#leaders;
  }
}

function isSender(standing: Standing | undefined): boolean {
  return standing !== undefined && standing.count > 0;
}

/** Counts by the day: seven whole days of UTC are never longer than the window. */
function daysOf(
  hours: ReadonlyMap<number, number>,
  since: readonly Count[],
  nowMs: number,
): Week["days"] {
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: DAYS_A_WEEK }, (_, i) => {
    return { startMs: (today - (DAYS_A_WEEK - 1 - i)) * DAY_MS, messages: 0 };
  });
  const first = today - (DAYS_A_WEEK - 1);
  const add = (minute: number, count: number) => {
    const day = days[Math.floor(minute * MINUTE_MS / DAY_MS) - first];
    if (day !== undefined) day.messages += count;
  };
  for (const [hour, count] of hours) add(hour * MINUTES_AN_HOUR, count);
  for (const { minute, count } of since) add(minute, count);
  return days;
}

/** Standings including what has changed since they were counted. */
function* present(
  counted: Iterable<Standing>,
  changed: ReadonlyMap<number, Standing>,
  shown: (standing: Standing) => boolean,
): Generator<Standing> {
  for (const standing of counted) {
    if (!changed.has(standing.senderId) && shown(standing)) yield standing;
  }
  for (const standing of changed.values()) if (shown(standing)) yield standing;
}
