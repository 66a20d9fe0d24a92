/** Sends by one connection alone against the same path without grouping: grouping must cost nothing. */
import { registerAgents } from "../agents.ts";
import { drive } from "../load.ts";
import type { Round, Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { randomSends } from "./sends.ts";

const SENDS = 1_000;

export const loneSends: Row = {
  id: "lone-sends",
  title: "signed sends by one connection alone, grouped against ungrouped",
  unit: "/s",
  target: { rule: "at least", ratio: 1 },
  async prepare({ temporaryFolder, random, count }) {
    const sides: { round: () => Promise<Round>; stop: () => Promise<void> }[] = [];
    for (const ungrouped of [false, true]) {
      const folder = `${temporaryFolder}/${ungrouped ? "alone" : "grouped"}`;
      await Deno.mkdir(folder);
      const relay = await startChild<{ port: number }>("relay.ts", { folder, ungrouped });
      const agents = await registerAgents(relay.ready.port, 20);
      const round = () =>
        drive(relay, randomSends(agents, count(SENDS), random), {
          connections: 1,
          status: 201,
        });
      sides.push({ round, stop: relay.stop });
    }
    return {
      ours: sides[0]!.round,
      reference: sides[1]!.round,
      async close() {
        for (const { stop } of sides) await stop();
      },
    };
  },
};
