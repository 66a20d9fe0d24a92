/**
 * Opens the network's figures: what group commits write for them, the routes that answer, and the
 * background work.
 */
import type { Identities } from "../agents/identities.ts";
import type { Log } from "../deps.ts";
import { doneWithin } from "../done_within.ts";
import type { Route } from "../http/route.ts";
import { logSparsely } from "../log_sparsely.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import type { Leases } from "../storage/leases.ts";
import { shareRuns } from "../storage/shared_run.ts";
import type { PublicReads } from "../storage/public_reads.ts";
import type { Store } from "../storage/store.ts";
import { windowMinutesOf } from "./counted.ts";
import { Leaderboard } from "./leaderboard.ts";
import { recordFigures, roomForFigures } from "./record_figures.ts";
import { networkRoutes } from "./routes.ts";
import { Standings } from "./standings.ts";
import { Sweeps } from "./sweeps.ts";
import { Tally } from "./tally.ts";

export interface NetworkOptions {
  store: Store;
  commits: GroupCommit;
  leases: Leases;
  publicReads: PublicReads;
  identities: Identities;
  retentionDays: number;
  log: Log;
}

export interface Network {
  routes: Route[];
  /** Corrects the figures after a ban or unban; waits for it, at most a second. */
  sweep(): Promise<void>;
  /**
   * Folds counts, writes checkpoints, and goes on with sweeps that another process left. Called
   * every minute.
   */
  tidy(): Promise<void>;
  /** Ends background work after the step under way. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
/**
 * After this many groups of this process with counted sends, counts are folded before the minute is
 * over.
 */
const GROUPS_A_FOLD = 100;
/** Longest time that a ban's answer waits for the figures. */
const SWEEP_WAIT_MS = 1_000;

/** Call before the first commit. Sweeps that a former process left are continued at once. */
export function openNetwork(options: NetworkOptions): Network {
  const { store, commits, leases, publicReads, identities, retentionDays, log } = options;
  const { kv, now } = store;
  const retentionMs = retentionDays * DAY_MS;
  const windowMinutes = windowMinutesOf(retentionDays);
  const standings = new Standings(kv, now, windowMinutes);
  const readStandings = shareRuns(() => standings.read());
  const tally = new Tally({ store, commits, leases, standings: readStandings, windowMinutes });
  const sweeps = new Sweeps({ store, commits, leases, identities, retentionMs });
  const leaderboard = new Leaderboard({ kv, identities, standings, readStandings });
  const logFailure = logSparsely(log, "figures_failed");
  const background = new Set<Promise<void>>();
  let groups = 0;

  commits.annotateGroups({
    room: roomForFigures,
    annotate(results, turn) {
      if (!recordFigures(results, turn, retentionMs)) return;
      if (++groups % GROUPS_A_FOLD === 0) void inBackground(() => tally.tidy());
    },
  });
  void inBackground(() => sweeps.run());

  /**
   * Runs work whose failure concerns no caller: a minute later, what it left undone is tried again.
   */
  function inBackground(work: () => Promise<void>): Promise<void> {
    const run = Promise.resolve().then(work)
      .catch(logFailure)
      .finally(() => background.delete(run));
    background.add(run);
    return run;
  }

  return {
    routes: networkRoutes({
      feed: { kv, now, retentionMs },
      leaderboard,
      publicReads,
      exclusive: store.exclusive,
    }),
    async sweep() {
      await doneWithin(inBackground(() => sweeps.run()), SWEEP_WAIT_MS);
    },
    async tidy() {
      await tally.tidy();
      await sweeps.run();
    },
    async close() {
      await sweeps.close();
      await Promise.all(background);
    },
  };
}
