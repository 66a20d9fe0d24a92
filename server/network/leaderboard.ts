/** GET /v1/leaderboard: who sent most in the trailing seven days (specification, 2.8 and 4.1). */
import type { Identities } from "../agents/identities.ts";
import { shareRuns } from "../storage/shared_run.ts";
import { hiddenAgents } from "./feed.ts";
import { selectTop, type Standing } from "./ranking.ts";
import type { Standings, StandingsNow } from "./standings.ts";

/** Entries of the longest page. */
export const MAX_LEADERS = 100;

export interface LeaderboardEntry {
  handle: string;
  word_name: string;
  message_count: number;
}

export class Leaderboard {
  /** The first entries of the folded counts, as of a revision of them. */
  #leaders: { revision: number; top: Standing[] } = { revision: -1, top: [] };
  readonly #read: () => Promise<Standing[]>;

  constructor(
    private readonly options: {
      kv: Deno.Kv;
      identities: Identities;
      standings: Standings;
      /** Reads the standings, shared among callers. */
      readStandings: () => Promise<StandingsNow>;
    },
  ) {
    this.#read = shareRuns(() => this.#rank());
  }

  /** The first entries of the leaderboard. */
  async top(limit: number): Promise<LeaderboardEntry[]> {
    const leaders = (await this.#read()).slice(0, limit);
    return await Promise.all(leaders.map(async ({ senderId, handle, count }) => {
      const { wordName } = await this.options.identities.byId(senderId);
      return { handle, word_name: wordName, message_count: count };
    }));
  }

  async #rank(): Promise<Standing[]> {
    const hidden = await hiddenAgents(this.options.kv);
    const { folded: { counts }, since } = await this.options.readStandings();
    const changed = new Map<number, Standing>();
    for (const { senderId, handle, count } of since) {
      const known = changed.get(senderId) ?? counts.get(senderId);
      changed.set(senderId, { senderId, handle, count: (known?.count ?? 0) + count });
    }
    const shown = ({ senderId }: Standing) => !hidden.has(senderId);
    // A sender that gained can overtake the leaders; no other sender moves up.
    const gainsOnly = since.every(({ count }) => count > 0);
    const candidates = gainsOnly && hidden.size === 0 ? this.#bestOf(counts) : counts.values();
    return selectTop(present(candidates, changed, shown), MAX_LEADERS);
  }

  #bestOf(counts: ReadonlyMap<number, Standing>): Standing[] {
    const { revision } = this.options.standings;
    if (this.#leaders.revision !== revision) {
      this.#leaders = { revision, top: selectTop(counts.values(), MAX_LEADERS) };
    }
    return this.#leaders.top;
  }
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
