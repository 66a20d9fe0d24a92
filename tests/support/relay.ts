/** A relay inside the test's own process, on a real socket, with a clock that the test moves. */
import { rawOf, readThrough } from "./read_through.ts";
import { join } from "node:path";
import { type Config, parseConfig } from "../../server/base/config/config.ts";
import type { Deps } from "../../server/base/parts/deps.ts";
import { bindingsOf } from "../../server/base/http/routes/route.ts";
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import type { Limits } from "../../server/base/config/limits.ts";
import { openRelay, type Relay, type RelayOptions } from "../../server/relay.ts";
import { checkAnswers, type CheckedApp } from "./checked_app.ts";
import { keepWorkers } from "./kept_workers.ts";
import { createTestClock, elapsedOf, TEST_START_MS, type TestClock } from "./clock.ts";
import { startTestServer } from "./test_server.ts";

export { type SpawnedRelay, spawnRelay } from "./spawn_relay.ts";

keepWorkers();

export interface TestRelayOptions {
  limits?: Partial<Limits>;
  config?: Partial<Config>;
  /** Unix milliseconds, or "real" for the time of the start; a fixed time in 2026 unless given. */
  clockStartMs?: number | "real";
  /** ":memory:" unless given; a path keeps the store for a later relay. */
  kvPath?: string;
  /**
   * Replacements, and the Deno KV under the backend unless that is given. stop() does not close a kv
   * given here, and relay.clock does not move a clock given here.
   */
  deps?: Partial<Deps & { kv: Deno.Kv }>;
  relay?: RelayOptions;
}

/** A line the relay logged. */
export interface LoggedLine {
  event: string;
  fields: Record<string, string | number | boolean | null>;
}

export interface TestRelay extends AsyncDisposable {
  /** Origin, without a trailing slash. */
  url: string;
  port: number;
  clock: TestClock;
  deps: Deps & { kv: Deno.Kv };
  relay: Relay;
  logged: LoggedLine[];
  /** Resolves when this many more requests have reached the relay; call it before they are sent. */
  nextRequests(count?: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Opens a relay on 127.0.0.1; `await using` or stop() closes it and removes its folder. Every
 * answer is checked against the API description. Closing fails if one was not as described.
 */
export async function startTestRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const startMs = options.clockStartMs === "real" ? Date.now() : options.clockStartMs;
  const clock = createTestClock(startMs ?? TEST_START_MS);
  const dataDir = options.config?.dataDir ?? await Deno.makeTempDir({ prefix: "relay-test-" });
  const logged: LoggedLine[] = [];
  const kv = rawOf(options.deps?.kv ?? await Deno.openKv(options.kvPath ?? ":memory:"));

  // The socket comes first, since the base URL contains its port.
  const open: { app?: CheckedApp } = {};
  const expected: { left: number; resolve: () => void }[] = [];
  const server = startTestServer((request, info) => {
    for (const requests of expected) if (--requests.left === 0) requests.resolve();
    return open.app?.fetch(request, bindingsOf(info)) ??
      new Response("not open yet", { status: 503 });
  });
  const { port } = server;
  const url = `http://127.0.0.1:${port}`;
  const defaults = parseConfig({ PORT: String(port), RELAY_DATA_DIR: dataDir });
  const deps: TestRelay["deps"] = {
    config: {
      ...defaults,
      ...options.config,
      limits: { ...defaults.limits, ...options.config?.limits, ...options.limits },
    },
    now: clock.now,
    elapsed: options.deps?.now === undefined ? clock.elapsed : elapsedOf(options.deps.now),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    fetch,
    log: (event, fields = {}) => void logged.push({ event, fields }),
    backend: new KvBackend(kv),
    ...options.deps,
    kv,
  };

  async function closeAround(relay: Relay | undefined): Promise<void> {
    relay?.endWaits();
    await server.close();
    try {
      await relay?.close();
    } finally {
      if (options.deps?.kv === undefined) kv.close();
      if (options.config?.dataDir === undefined) await Deno.remove(dataDir, { recursive: true });
    }
    open.app?.assertDescribed();
  }

  let relay: Relay;
  try {
    relay = await openRelay(deps, options.relay);
  } catch (error) {
    await closeAround(undefined);
    throw error;
  }
  open.app = checkAnswers(relay.app, relay.mailOn, deps.config.mail.local);
  let stopping: Promise<void> | undefined;
  const stop = () => stopping ??= closeAround(relay);
  const nextRequests = (left = 1) =>
    new Promise<void>((resolve) => void expected.push({ left, resolve }));
  const seen = { ...deps, kv: readThrough(kv) };
  return {
    url,
    port,
    clock,
    deps: seen,
    relay,
    logged,
    nextRequests,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** A path for a store file that outlives one relay; remove its folder when done. */
export async function makeStoreFolder(): Promise<{ dir: string; kvPath: string }> {
  const dir = await Deno.makeTempDir({ prefix: "relay-store-" });
  return { dir, kvPath: join(dir, "relay.kv") };
}
