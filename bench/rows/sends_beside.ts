/** How long an innocent agent's sends take while something else goes on. */
import type { BenchAgent } from "../agents.ts";
import { drive, type LoadedServer } from "../load.ts";
import type { Context, Round } from "../row.ts";
import { randomSends } from "./sends.ts";

const SENDS = 1_000;
/** Few: what is measured is the wait behind others, not that behind each other. */
const CONNECTIONS = 4;

/** A round of signed sends, whose value is their p99 in ms. */
export function sendsP99(
  relay: LoadedServer,
  agents: BenchAgent[],
  { count, random }: Pick<Context, "count" | "random">,
): () => Promise<Round> {
  return async () => {
    const round = await drive(relay, randomSends(agents, count(SENDS), random), {
      connections: CONNECTIONS,
      status: 201,
    });
    return { ...round, value: round.p99Ms! };
  };
}
