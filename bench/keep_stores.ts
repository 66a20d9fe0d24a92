/** Writes the stores that rows and growth use and installs the peers, all before the first row. */
import { DISK_STORE } from "./disk_cost.ts";
import { MAIL_PACKAGES } from "./peers/mail_reference.ts";
import { installPackages } from "./peers/node_packages.ts";
import { NOSTR_PACKAGES } from "./peers/nostr_relay.ts";
import { type Context, NotMeasured, type Row, type StoreSize } from "./row.ts";
import type { StoreFillerArgument } from "./servers/store_filler.ts";
import { startChild } from "./servers/child.ts";

export interface KeepStoresOptions {
  context: Context;
  seed: number;
  rows: readonly Row[];
  growthSizes: readonly StoreSize[];
}

/** What a day's earlier run has left is not written again. */
export async function keepStores(
  { context, seed, rows, growthSizes }: KeepStoresOptions,
): Promise<void> {
  const { keptFolder, progress } = context;
  const sizes = [...rows.flatMap(({ stores = [] }) => stores), ...growthSizes, DISK_STORE];
  const fill = async (sizes: readonly StoreSize[]) => {
    // A process each: to write a million agents takes memory that the load generator would keep.
    const argument: StoreFillerArgument = { sizes, keptFolder, seed };
    const filler = await startChild("store_filler.ts", argument);
    await filler.stop();
  };
  const peers = async () => {
    for (const packages of [NOSTR_PACKAGES, MAIL_PACKAGES]) {
      try {
        await installPackages(packages, context);
      } catch (error) {
        if (!(error instanceof NotMeasured)) throw error;
        progress(error.message); // its rows say so too
      }
    }
  };
  await Promise.all([...lanesOf(sizes).map(fill), peers()]);
}

/** Each size once, in two lanes that take about as long. */
export function lanesOf(sizes: readonly StoreSize[]): StoreSize[][] {
  const weight = ({ agents, messages }: StoreSize) => agents * AGENT_WEIGHT + messages;
  const each = new Map(sizes.map((size) => [`${size.agents} ${size.messages}`, size]));
  const lanes = [0, 1].map(() => ({ sizes: [] as StoreSize[], weight: 0 }));
  for (const size of [...each.values()].sort((a, b) => weight(b) - weight(a))) {
    const lane = lanes[0]!.weight <= lanes[1]!.weight ? lanes[0]! : lanes[1]!;
    lane.sizes.push(size);
    lane.weight += weight(size);
  }
  return lanes.map(({ sizes }) => sizes).filter((sizes) => sizes.length > 0);
}

/** An agent takes so many times as long as a message. */
const AGENT_WEIGHT = 2;
