/** Signed sends over 64 connections against bare commits of seven mutations by 64 callers. */
import { type BenchAgent, registerAgents, sendRequest } from "../agents.ts";
import { drive } from "../load.ts";
import type { Row } from "../row.ts";
import { startChild } from "../servers/child.ts";

const CONNECTIONS = 64;
const SENDS = 8_000;
const COMMITS = 6_000;

/** Sends between random pairs of agents. */
export function randomSends(
  agents: BenchAgent[],
  count: number,
  random: () => number,
): Uint8Array[] {
  const any = () => agents[Math.floor(random() * agents.length)]!;
  return Array.from({ length: count }, () => sendRequest(any(), any()));
}

export const sends: Row = {
  id: "sends",
  title: "signed sends, 64 connections, 200-byte body, against a bare commit of seven mutations",
  unit: "/s",
  target: { rule: "at least", ratio: 1.6 },
  async prepare({ temporaryFolder: folder, random }) {
    const relay = await startChild<{ port: number }>("relay.ts", { folder });
    const bare = await startChild("bare_kv.ts", { folder });
    const agents = await registerAgents(relay.ready.port, 200);
    return {
      ours: () =>
        drive(relay.ready.port, randomSends(agents, SENDS, random), {
          connections: CONNECTIONS,
          status: 201,
        }),
      reference: () => bare.ask<number>(`commits ${COMMITS}`),
      async close() {
        await relay.stop();
        await bare.stop();
      },
    };
  },
};
