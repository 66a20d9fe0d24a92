/** Feed page and leaderboard of a network with a million stored messages against one with ten thousand. */
import { drive, httpRequest } from "../load.ts";
import type { Context, Pair, Round, Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { storedNetwork } from "../stored_network.ts";

const AGENTS = 2_000;
const FEW = 10_000;
const MANY = 1_000_000;
const STORES = [MANY, FEW].map((messages) => ({ agents: AGENTS, messages }));
const CONNECTIONS = 16;
const REQUESTS = 4_000;
/** A cost that grows 1.3 times is a rate that falls to 0.77. */
const TARGET = { rule: "at least", ratio: 0.77 } as const;

async function prepare(
  { keptFolder, random, progress, count }: Context,
  path: () => string,
): Promise<Pair> {
  const sides: { round: () => Promise<Round>; stop: () => Promise<void>; total: number }[] = [];
  for (const store of STORES) {
    const folder = await storedNetwork(store, { keptFolder, random, progress });
    const relay = await startChild<{ port: number }>("relay.ts", { folder });
    const { port } = relay.ready;
    await relay.ask("tidy");
    const stats = await (await fetch(`http://127.0.0.1:${port}/v1/stats`)).json();
    const round = () =>
      drive(
        relay,
        Array.from({ length: count(REQUESTS) }, () => httpRequest("GET", path(), {})),
        { connections: CONNECTIONS, status: 200 },
      );
    sides.push({ round, stop: relay.stop, total: stats.total_messages });
  }
  const [many, few] = sides;
  return {
    ours: many!.round,
    reference: few!.round,
    note: () => `${many!.total} against ${few!.total} stored messages of ${AGENTS} agents`,
    async close() {
      for (const { stop } of sides) await stop();
    },
  };
}

export const feedPage: Row = {
  id: "feed-1m",
  title: "feed page of 50 with 1,000,000 stored messages against 10,000",
  unit: "/s",
  target: TARGET,
  slow: true,
  stores: STORES,
  prepare: (context) => prepare(context, () => "/v1/feed"),
};

export const leaderboard: Row = {
  id: "leaderboard-1m",
  title: "leaderboard with 1,000,000 stored messages against 10,000",
  unit: "/s",
  target: TARGET,
  slow: true,
  stores: STORES,
  prepare: (context) => prepare(context, () => "/v1/leaderboard"),
};
