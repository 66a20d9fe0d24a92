/** How a relay grows with its store: start-up, memory, sends and polls, each at several sizes. */
import { join } from "node:path";
import { spawnRelay } from "../tests/support/spawn_relay.ts";
import { type BenchAgent, signedRequest } from "./agents.ts";
import { drive } from "./load.ts";
import { residentMiB } from "./process_memory.ts";
import type { Context, Round, StoreSize } from "./row.ts";
import { randomSends } from "./rows/sends.ts";
import { OPEN_LIMITS } from "./servers/open_limits.ts";
import { fourDigits, median } from "./statistics.ts";
import { copyStore, storedAgents, storedNetwork } from "./stored_network.ts";

const CONNECTIONS = 64;
const REQUESTS = 4_000;
const ROUNDS = 3;
/** A search of a million agents is told to come again at first: how long to keep trying. */
export const LONGEST_SEARCH_MS = 30_000;
/** The same at every size, so that the curves show the store and not how many agents are new. */
const ACTIVE_AGENTS = 1_000;

const asMany = (size: number): StoreSize => ({ agents: size, messages: size });
export const QUICK_SIZES: readonly StoreSize[] = [1_000, 100_000].map(asMany);
/** The last one is what a relay holds in 512 MiB; the curves show the others. */
export const SIZES: readonly StoreSize[] = [...[1_000, 100_000, 1_000_000].map(asMany), {
  agents: 100_000,
  messages: 1_000_000,
}];

/** A relay on a store of some size. */
export interface GrowthPoint extends StoreSize {
  fileMiB: number;
  /** From the start of the process to its first answer. */
  startMs: number;
  startMiB: number;
  sendsPerSecond: number;
  sendP99Ms: number;
  pollsPerSecond: number;
  pollP99Ms: number;
  /** Memory after the sends and polls. */
  warmMiB: number;
  /** The first search of the directory builds its index; null where that took longer than is waited. */
  firstSearchMs: number | null;
  searchedMiB: number;
}

/** Measures a relay on a copy of a store of this size. */
export async function measureGrowth(size: StoreSize, context: Context): Promise<GrowthPoint> {
  const from = await storedNetwork(size, context);
  const folder = await copyStore(from, join(context.temporaryFolder, "grown"));
  return await measurePoint(size, folder, context);
}

async function measurePoint(
  { agents: agentCount, messages }: StoreSize,
  folder: string,
  { random, count, progress }: Context,
): Promise<GrowthPoint> {
  const fileMiB = (await Deno.stat(join(folder, "relay.kv"))).size / 2 ** 20;
  const beganMs = performance.now();
  const relay = await spawnRelay({
    env: { RELAY_DATA_DIR: folder, RELAY_LIMITS: JSON.stringify(OPEN_LIMITS) },
  });
  const startMs = performance.now() - beganMs;
  try {
    const server = { ready: { port: Number(new URL(relay.url).port) }, pid: relay.pid };
    const memory = async () => fourDigits(await residentMiB(relay.pid) ?? NaN);
    const startMiB = await memory();
    const agents = storedAgents(Math.min(agentCount, ACTIVE_AGENTS));
    const sends = await rounds(() =>
      drive(server, randomSends(agents, count(REQUESTS), random), {
        connections: CONNECTIONS,
        status: 201,
      })
    );
    const polls = await rounds(() =>
      drive(server, randomPolls(agents, count(REQUESTS), random), {
        connections: CONNECTIONS,
        status: 200,
      })
    );
    const warmMiB = await memory();
    const firstSearchMs = await searchUntilRead(relay.url);
    const point = {
      agents: agentCount,
      messages,
      fileMiB: fourDigits(fileMiB),
      startMs: Math.round(startMs),
      startMiB,
      sendsPerSecond: sends.value,
      sendP99Ms: sends.p99Ms!,
      pollsPerSecond: polls.value,
      pollP99Ms: polls.p99Ms!,
      warmMiB,
      firstSearchMs,
      searchedMiB: await memory(),
    };
    progress(JSON.stringify(point).replaceAll('"', "").replaceAll(",", ", "));
    return point;
  } finally {
    await relay.terminate();
  }
}

/**
 * Searches until the relay has read its directory: with a million agents that takes longer than it lets
 * a client wait.
 * @returns ms; null when it took longer than is waited for
 */
async function searchUntilRead(url: string): Promise<number | null> {
  const beganMs = performance.now();
  for (;;) {
    const answer = await fetch(`${url}/v1/agents?q=first`);
    const text = await answer.text();
    if (answer.status === 200) return Math.round(performance.now() - beganMs);
    if (answer.status !== 503) {
      throw new Error(`the first search answered ${answer.status}: ${text}`);
    }
    if (performance.now() - beganMs > LONGEST_SEARCH_MS) return null;
    const seconds = Number(answer.headers.get("retry-after") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

function randomPolls(agents: BenchAgent[], count: number, random: () => number): Uint8Array[] {
  return Array.from({ length: count }, () => {
    const agent = agents[Math.floor(random() * agents.length)]!;
    return signedRequest(agent, "GET", "/v1/inbox");
  });
}

/** Medians of some rounds after one that warms up. */
async function rounds(round: () => Promise<Round>): Promise<Round> {
  await round();
  const all: Round[] = [];
  for (let i = 0; i < ROUNDS; i++) all.push(await round());
  return {
    value: fourDigits(median(all.map(({ value }) => value))),
    p99Ms: fourDigits(median(all.map(({ p99Ms }) => p99Ms!))),
  };
}
