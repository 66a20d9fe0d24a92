/** What is promised of a relay's growth, and whether it held. */
import type { Joined } from "./join_runs.ts";
import type { Spread } from "./statistics.ts";
import type { GrowthPoint } from "./growth.ts";

interface GrowthTarget {
  /** What bounds it, as the page names it. */
  id: string;
  what: string;
  agents: number;
  messages: number;
  figure: "searchedMiB" | "startMs";
  unit: string;
  most: number;
}

const LARGE = { agents: 100_000, messages: 1_000_000 };
const TARGETS: readonly GrowthTarget[] = [
  {
    id: "memory-1m",
    what: "memory after sends, polls and the first search, with 100,000 agents and 1,000,000 " +
      "messages",
    ...LARGE,
    figure: "searchedMiB",
    unit: "MiB",
    most: 512,
  },
  {
    id: "start-1m",
    what: "start with that store",
    ...LARGE,
    figure: "startMs",
    unit: "ms",
    most: 3_000,
  },
];

export interface GrowthVerdict {
  id: string;
  what: string;
  unit: string;
  value: number;
  spread?: Spread;
  most: number;
  met: boolean;
}

/** @returns nothing of points that were not measured */
export function growthVerdicts(
  { growth = [], growthSpread = [] }: Pick<Joined, "growth" | "growthSpread">,
): GrowthVerdict[] {
  return TARGETS.flatMap(({ id, what, unit, agents, messages, figure, most }) => {
    const i = growth.findIndex((point) => point.agents === agents && point.messages === messages);
    const point: GrowthPoint | undefined = growth[i];
    if (point === undefined) return [];
    const value = point[figure];
    const spread = growthSpread[i]?.[figure];
    return [{ id, what, unit, value, ...(spread ? { spread } : {}), most, met: value <= most }];
  });
}
