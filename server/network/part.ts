/** The network's figures as a part of the relay: what rides on group commits for them, who answers and tidies. */
import type { Core } from "../core.ts";
import { logSparsely } from "../log_sparsely.ts";
import type { Part } from "../part.ts";
import { shareRuns } from "../storage/shared_run.ts";
import { DAY_MS } from "../time_units.ts";
import { windowMinutesOf } from "./counted.ts";
import { Leaderboard } from "./leaderboard.ts";
import { recordFigures, roomForFigures } from "./record_figures.ts";
import { networkRoutes } from "./routes.ts";
import { Standings } from "./standings.ts";
import { Sweeps } from "./sweeps.ts";
import { Tally } from "./tally.ts";

export interface Network extends Part {
  /** Corrects the figures after a ban or unban; waits for it, at most a second. */
  sweep(): Promise<void>;
}

/** Groups of this process with counted sends after which counts are folded before the minute is over. */
const GROUPS_A_FOLD = 100;
/** Longest time that a ban's answer waits for the figures. */
const SWEEP_WAIT_MS = 1_000;

/** Call before the first commit. Sweeps that a former process left are taken up at once. */
export function openNetwork(core: Core): Network {
  const { store, commits, leases, publicReads, identities } = core;
  const { kv, now } = store;
  const { retentionDays } = core.limits;
  const retentionMs = retentionDays * DAY_MS;
  const windowMinutes = windowMinutesOf(retentionDays);
  const standings = new Standings(kv, now, windowMinutes);
  const readStandings = shareRuns(() => standings.read());
  const tally = new Tally({ store, commits, leases, standings: readStandings, windowMinutes });
  const sweeps = new Sweeps({ store, commits, leases, identities, retentionMs });
  const leaderboard = new Leaderboard({ kv, identities, standings, readStandings });
  const logFailure = logSparsely(core.deps.log, "figures_failed");
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

  /** Runs work whose failure concerns no caller: what it leaves undone is taken up a minute later. */
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
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, SWEEP_WAIT_MS));
      await Promise.race([inBackground(() => sweeps.run()), late]);
      clearTimeout(timer);
    },
    async everyMinute() {
      await tally.tidy();
      await sweeps.run();
    },
    async close() {
      await commits.drained(); // the last groups may have begun a fold of its counts
      await sweeps.close();
      await Promise.all(background);
    },
  };
}
