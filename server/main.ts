/**
 * The relay as a process: the only file that reads the environment, opens the store, registers
 * crons and listens.
 */
import { checkNamedFiles } from "./base/config/check_named_files.ts";
import { withEnvFile } from "./base/config/env_file.ts";
import { ENV_FILE } from "./base/config/permissions.ts";
import { readSettings } from "./base/config/read_settings.ts";
import { SETTING_NAMES } from "./base/config/setting_names.ts";
import { type Config, parseConfig } from "./base/config/config.ts";
import type { Deps } from "./base/parts/deps.ts";
import { CRON_SCHEDULES, type CronName } from "./base/parts/part.ts";
import { describeFailure } from "./base/describe_failure.ts";
import { createLog } from "./process/json_log.ts";
import { openStore } from "./process/open_store.ts";
import type { OpenedStore } from "./process/opened_store.ts";
import type { Mailer } from "./base/mailer/mailer.ts";
import { openMailer } from "./base/mailer/open_mailer.ts";
import { openRelay } from "./relay.ts";
import { type ProcessRelay, serve, type Serving } from "./process/serve.ts";
import { startFailure } from "./process/start_failure.ts";
import { startupNotes } from "./base/config/startup_notes.ts";
import { VERSION } from "./base/version.ts";

/** Exit code of a start that failed. */
const FAILED = 1;

const log = createLog();
let relay: ProcessRelay | undefined;

// Deno Deploy finds crons only at the top level of the main module, always and before serving: a run
// before there is a relay is skipped.
for (const [name, schedule] of Object.entries(CRON_SCHEDULES)) {
  Deno.cron(name, schedule, async () => await relay?.crons?.[name as CronName]?.());
}

try {
  await start();
} catch (error) {
  console.error(`relay: ${startFailure(error)}`);
  Deno.exit(FAILED);
}

async function start(): Promise<void> {
  const nowMs = Date.now();
  const env = await withEnvFile(readSettings(SETTING_NAMES), ENV_FILE);
  // The runtime itself reads this one, from the process alone.
  const kvToken = env["DENO_KV_ACCESS_TOKEN"];
  if (kvToken !== undefined) Deno.env.set("DENO_KV_ACCESS_TOKEN", kvToken);
  const { config, release: releasePort } = reservePort(parseConfig(env));
  await checkNamedFiles(config.mail);
  const mailer = await openMailer(config);
  // One failed request must not take the others down with it.
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    (relay?.log ?? log)("unhandled_rejection", describeFailure(event.reason));
  });

  const store = await openStore(config, nowMs, { tell: console.log, log, lost });
  let serving: Serving;
  try {
    const opened: ProcessRelay = await openRelay(depsOf(config, store, mailer), {
      measureFreeBytes: store.measureFreeBytes,
      onWriteFailure: store.writeFailed,
    });
    try {
      releasePort();
      serving = serve(opened, { host: config.host, port: config.port, log });
    } catch (error) {
      await opened.close(); // what runs in the background still uses the store
      throw error;
    }
    relay = opened;
  } catch (error) {
    await store.close();
    throw error;
  }
  stopOnSignal(serving, store);

  const address = new URL(config.baseUrlGiven ? "http://localhost" : config.baseUrl);
  address.hostname = config.host.includes(":") ? `[${config.host}]` : config.host;
  address.port = String(serving.port);
  const facts = {
    address: address.origin,
    pid: Deno.pid,
    version: VERSION,
    store: store.description,
  };
  const lines = [...startupNotes(config, facts), ...relay.startupNotes()];
  console.log(lines.join("\n"));
  relay.rememberStartup?.(lines);
}

/** At once, and without writing what memory holds. */
function lost(line: string): never {
  (relay?.log ?? log)("store_lost", { pid: Deno.pid });
  console.error(`relay: ${line}`);
  Deno.exit(FAILED);
}

function depsOf(config: Config, { backend }: OpenedStore, mailer: Mailer | undefined): Deps {
  return {
    config,
    backend,
    now: Date.now,
    elapsed: () => performance.now(),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    fetch,
    mailer,
    log,
  };
}

/** Exits 0 within 5 s of the first signal; wrappers and terminals may send it twice. */
function stopOnSignal(serving: Serving, store: OpenedStore): void {
  let stopping = false;
  async function stop(signal: string): Promise<void> {
    if (stopping) return;
    stopping = true;
    log("stopping", { signal, pid: Deno.pid });
    try {
      const clean = await serving.stop();
      await store.close();
      log("stopped", { clean });
    } catch (error) {
      log("shutdown_failed", describeFailure(error));
    } finally {
      Deno.exit(0);
    }
  }
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGTERM", "SIGINT"];
  for (const signal of signals) Deno.addSignalListener(signal, () => void stop(signal));
}

/**
 * Settles PORT=0 before anything opens, since links carry the port. Nobody else is given it until
 * release(), after which the relay listens itself.
 */
function reservePort(config: Config): { config: Config; release(): void } {
  if (config.port !== 0 || config.onDeploy) return { config, release() {} };
  const reserved = Deno.listen({ hostname: config.host, port: 0 });
  const { port } = reserved.addr;
  const baseUrl = config.baseUrlGiven ? config.baseUrl : config.baseUrl.replace(/:0$/, `:${port}`);
  return { config: { ...config, port, baseUrl }, release: () => reserved.close() };
}
