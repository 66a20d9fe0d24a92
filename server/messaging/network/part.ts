/**
 * Opens the network's figures: what group commits write for them, the routes that answer, and the
 * background work.
 */
import type { AgentCore } from "../agents/agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import { doneWithin } from "../../base/time/done_within.ts";
import { logSparsely } from "../../base/log_sparsely.ts";
import type { Part } from "../../base/parts/part.ts";
import { coalesceRuns } from "../../base/storage/leases/coalesce_runs.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { windowMinutesOf } from "./counted.ts";
import { Leaderboard } from "./leaderboard.ts";
import { NetworkFigures } from "./network_figures.ts";
import { recordFigures } from "./record_figures.ts";
import { NETWORK_ROUTES } from "./routes.ts";
import { Standings } from "./standings.ts";
import { createSweeps } from "./sweeps.ts";
import { Tally } from "./tally.ts";

export interface Network extends Part {
  /** For pages: the figures that the routes answer with. */
  figures: NetworkFigures;
  /** Corrects the figures after a ban or unban; waits for it, at most a second. */
  sweep(): Promise<void>;
}

/**
 * After this many groups of this process with counted sends, counts are folded before the minute is
 * over.
 */
const GROUPS_A_FOLD = 100;
/** Longest time that a ban's answer waits for the figures. */
const SWEEP_WAIT_MS = 1_000;

/** Call before the first commit. Sweeps that a former process left are continued at once. */
export function openNetwork(core: AgentCore): Network {
  const { store, commits, identities } = core;
  const { now } = store;
  const { retentionDays } = core.limits;
  const retentionMs = retentionDays * DAY_MS;
  const windowMinutes = windowMinutesOf(retentionDays);
  const standings = new Standings(store, now, windowMinutes);
  const readStandings = coalesceRuns(() => standings.read());
  const tally = new Tally({ ...core, standings: readStandings, windowMinutes });
  const sweeps = createSweeps({ ...core, retentionMs });
  const figures = new NetworkFigures({
    ...core,
    feed: { store, now, retentionMs },
    leaderboard: new Leaderboard({ store, identities, now, standings, readStandings }),
  });
  const logFailure = logSparsely(core.deps.log, "figures_failed");
  const background = new Set<Promise<void>>();
  let groups = 0;

  commits.annotateGroups(recordFigures(retentionMs, () => {
    if (++groups % GROUPS_A_FOLD === 0) void inBackground(() => tally.tidy());
  }));
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
    figures,
    routes: mount(NETWORK_ROUTES, { ...core, figures }),
    async sweep() {
      await doneWithin(inBackground(() => sweeps.run()), SWEEP_WAIT_MS);
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
