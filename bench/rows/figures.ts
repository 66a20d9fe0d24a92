/** Sends that keep all figures against the same sends of test traffic, which keep none. */
import { registerAgents } from "../agents.ts";
import { drive } from "../load.ts";
import type { Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { randomSends } from "./sends.ts";

const CONNECTIONS = 64;
const SENDS = 4_000;

export const figures: Row = {
  id: "figures",
  title: "signed sends, 64 connections: feed, leaderboard and totals kept against none kept",
  unit: "/s",
  target: { rule: "at least", ratio: 0.85 },
  async prepare({ temporaryFolder: folder, random, count }) {
    const relay = await startChild<{ port: number }>("relay.ts", { folder });
    const { port } = relay.ready;
    const counted = await registerAgents(port, 200);
    const uncounted = await registerAgents(port, 200, "flood");
    const round = (agents: typeof counted) => () =>
      drive(relay, randomSends(agents, count(SENDS), random), {
        connections: CONNECTIONS,
        status: 201,
      });
    return {
      ours: round(counted),
      reference: round(uncounted),
      close: () => relay.stop(),
    };
  },
};
