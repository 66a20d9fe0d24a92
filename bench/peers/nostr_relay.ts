/**
 * A Nostr relay from npm (@nostr-relay/core with its SQLite store) under Node.js. Its packages are
 * no dependency of the project: they are installed, by exact version, into the kept folder.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { quantile } from "../statistics.ts";
import { type Context, NotMeasured, type Round } from "../row.ts";
import { type Child, startProgram } from "../servers/child.ts";
import { cpuPerRequest, readThreadCpu } from "../thread_cpu.ts";

const RELAY_VERSION = "0.0.40";
const PACKAGES = {
  "@nostr-relay/common": RELAY_VERSION,
  "@nostr-relay/core": RELAY_VERSION,
  "@nostr-relay/event-repository-sqlite": RELAY_VERSION,
  "@nostr-relay/validator": RELAY_VERSION,
  "@noble/curves": "1.9.7",
  "better-sqlite3": "11.10.0",
  "ws": "8.18.3",
};

export interface NostrRelay {
  version: string;
  /** Accepted events a second. */
  accepted(options: { connections: number; events: number }): Promise<Round>;
  stop(): Promise<void>;
}

export type NostrContext = Pick<
  Context,
  "keptFolder" | "temporaryFolder" | "installs" | "progress"
>;

/** @throws NotMeasured where there is no Node.js, or its packages cannot be installed */
export async function startNostrRelay(context: NostrContext): Promise<NostrRelay> {
  const packages = await installNostrRelay(context);
  const node = (script: string, ...args: string[]) =>
    startProgram<{ port: number }>("node", [scriptPath(script), packages, ...args]);
  const server = await node("nostr_server.mjs", join(context.temporaryFolder, "nostr.db"));
  const load = await node("nostr_load.mjs", String(server.ready.port));
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

function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/**
 * @returns the folder of its packages, which is kept
 * @throws NotMeasured where there is no Node.js, or they cannot be installed
 */
export async function installNostrRelay(
  { keptFolder, installs, progress }: Omit<NostrContext, "temporaryFolder">,
): Promise<string> {
  const folder = join(keptFolder, "nostr-relay");
  const manifest = JSON.stringify({ private: true, dependencies: PACKAGES });
  const stamp = join(folder, "installed");
  if (await Deno.readTextFile(stamp).catch(() => "") === manifest) return folder;
  if (!installs) throw new NotMeasured("--quick does not install the Nostr relay");
  progress("installing the Nostr relay; its store may have to be compiled, which takes a minute");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "package.json"), manifest);
  await runOrNotMeasured(
    "npm",
    ["install", "--no-audit", "--no-fund", "--no-package-lock"],
    folder,
  );
  // An npm that runs no install scripts leaves the store without its compiled part.
  const use = 'new (require("better-sqlite3"))(":memory:").close()';
  await runOrNotMeasured("node", ["-e", use], folder);
  await Deno.writeTextFile(stamp, manifest);
  return folder;
}

async function runOrNotMeasured(program: string, args: string[], cwd: string): Promise<void> {
  try {
    const { success, stderr } = await new Deno.Command(program, { args, cwd }).output();
    if (success) return;
    const said = new TextDecoder().decode(stderr).trim().split("\n").at(-1);
    throw new NotMeasured(`the Nostr relay does not install: ${program}: ${said}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new NotMeasured(`the Nostr relay needs Node.js and npm: there is no ${program}`);
  }
}
