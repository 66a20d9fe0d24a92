/** A Nostr relay from npm (@nostr-relay/core with its SQLite store) under Node.js. */
import { join } from "node:path";
import type { Context, Round } from "../row.ts";
import type { Child } from "../servers/child.ts";
import { quantile } from "../statistics.ts";
import { cpuPerRequest, readThreadCpu } from "../thread_cpu.ts";
import { type NodePackages, startNodePeer } from "./node_packages.ts";

const RELAY_VERSION = "0.0.40";
export const NOSTR_PACKAGES: NodePackages = {
  name: "nostr-relay",
  versions: {
    "@nostr-relay/common": RELAY_VERSION,
    "@nostr-relay/core": RELAY_VERSION,
    "@nostr-relay/event-repository-sqlite": RELAY_VERSION,
    "@nostr-relay/validator": RELAY_VERSION,
    "@noble/curves": "1.9.7",
    "better-sqlite3": "11.10.0",
    "ws": "8.18.3",
  },
};

export interface NostrRelay {
  version: string;
  /** Accepted events a second. */
  accepted(options: { connections: number; events: number }): Promise<Round>;
  stop(): Promise<void>;
}

/** @throws NotMeasured where there is no Node.js, or its packages cannot be installed */
export async function startNostrRelay(context: Context): Promise<NostrRelay> {
  const database = join(context.temporaryFolder, "nostr.db");
  const server = await startNodePeer(NOSTR_PACKAGES, "nostr_server.mjs", [database], context);
  const port = String(server.ready.port);
  const load = await startNodePeer(NOSTR_PACKAGES, "nostr_load.mjs", [port], context);
  return {
    version: `@nostr-relay/core ${RELAY_VERSION}, better-sqlite3, write-ahead log`,
    async accepted(options) {
      return await acceptedRound(server, load, options);
    },
    async stop() {
      await load.stop();
      await server.stop();
    },
  };
}

async function acceptedRound(
  server: Child<unknown>,
  load: Child<unknown>,
  options: { connections: number; events: number },
): Promise<Round> {
  // Only its first thread does work: it drives the store.
  const before = readThreadCpu(server.pid);
  type Answer = { rate: number; tookMs: number[]; generatorShare: number };
  const { rate, tookMs, generatorShare } = await load.ask<Answer>(JSON.stringify(options));
  const cpuUs = cpuPerRequest(before, readThreadCpu(server.pid), options.events);
  tookMs.sort((a, b) => a - b);
  return {
    value: rate,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    cpuUs,
    generatorShare,
  };
}
