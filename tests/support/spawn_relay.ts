/** A relay in a process of its own. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withEnvFile } from "../../server/base/config/env_file.ts";
import {
  ENV_FILE,
  permissionFlags,
  RUNTIME_FLAGS,
  WORKER_MODULES,
} from "../../server/base/config/permissions.ts";

/** Settings of test programs. */
const TEST_SETTINGS = "TEST_LEASE_MS,TEST_CLOCK_SKEW_MS,TEST_HALT_AT,TEST_HALT_MAIL";

export interface SpawnOptions {
  /** Settings; PORT is a free one and RELAY_DATA_DIR a temporary folder unless given. */
  env?: Record<string, string>;
  /** A test program that starts a relay in its own way; a path from this folder. */
  entry?: string;
  /** How many files and connections it may have open at the same time. */
  openFiles?: number;
  /** Further arguments of the runtime, such as --inspect. */
  runtimeFlags?: readonly string[];
  /** Sends a signal as soon as the start has printed this. */
  stopAt?: { pattern: RegExp; signal: Deno.Signal };
}

export interface SpawnedRelay extends AsyncDisposable {
  url: string;
  pid: number;
  dataDir: string;
  /** What it has printed so far. */
  output(): { stdout: string; stderr: string };
  /** Resolves when its output matches; rejects when it ends without a match. */
  wrote(pattern: RegExp): Promise<void>;
  /** Settles when the process has ended. */
  status: Promise<Deno.CommandStatus>;
  /** Sends a signal and waits for the end. */
  kill(signal: Deno.Signal): Promise<Deno.CommandStatus>;
  /** Sends SIGTERM and waits for the end. */
  terminate(): Promise<Deno.CommandStatus>;
}

/** A start that ended before it listened. */
export interface FailedStart {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Starts server/main.ts and waits until /health answers.
 * @throws Error with the process's output when it ends first
 */
export async function spawnRelay(options: SpawnOptions = {}): Promise<SpawnedRelay> {
  const started = await start(options);
  if ("url" in started) return started;
  throw new Error(`the relay ended with ${started.code}: ${started.stderr}${started.stdout}`);
}

/**
 * Starts server/main.ts with settings that it must refuse.
 * @throws Error when it listens all the same
 */
export async function spawnFailingRelay(options: SpawnOptions = {}): Promise<FailedStart> {
  const started = await start(options);
  if (!("url" in started)) return started;
  await started.kill("SIGKILL");
  throw new Error("the relay started, although it must not");
}

async function start(options: SpawnOptions): Promise<SpawnedRelay | FailedStart> {
  const ownDataDir = options.env?.RELAY_DATA_DIR === undefined;
  const dataDir = options.env?.RELAY_DATA_DIR ??
    await Deno.makeTempDir({ prefix: "relay-process-" });
  // The shell becomes the relay, so that signals reach it.
  const [program, ...before] = options.openFiles === undefined
    ? [Deno.execPath()] as const
    : ["sh", "-c", `ulimit -n ${options.openFiles} && exec "$0" "$@"`, Deno.execPath()] as const;
  const env = { PORT: "0", RELAY_DATA_DIR: dataDir, ...withRoomForMail(options.env ?? {}) };
  const cwd = await Deno.realPath(dataDir);
  // The permissions of `deno task start`: tests must not use what they refuse. Its runtime too.
  const flags = permissionFlags(await withEnvFile(env, join(cwd, ENV_FILE)).catch(() => env))
    .map(fromHere);
  const child = new Deno.Command(program, {
    args: [
      ...before,
      "run",
      "--quiet",
      `--config=${pathOf("../../deno.json")}`,
      ...RUNTIME_FLAGS,
      ...options.runtimeFlags ?? [],
      ...flags,
      // A test program has settings of its own.
      ...(options.entry === undefined ? [] : [`--allow-env=${TEST_SETTINGS}`]),
      pathOf(options.entry ?? "../../server/main.ts"),
    ],
    cwd,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  const collected = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  const reading = (["stdout", "stderr"] as const).map((stream) =>
    collect(child[stream], (text) => {
      collected[stream] += text;
      for (const watcher of [...watchers]) watcher();
    })
  );
  let hasEnded = false;
  const ended = (async () => {
    const status = await child.status;
    await Promise.all(reading);
    hasEnded = true;
    for (const watcher of [...watchers]) watcher();
    if (ownDataDir) await Deno.remove(dataDir, { recursive: true });
    return status;
  })();

  function wrote(pattern: RegExp): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const watcher = () => {
      if (pattern.test(collected.stdout + collected.stderr)) resolve();
      else if (hasEnded) reject(new Error(`the relay ended without writing ${pattern}`));
      else return;
      watchers.delete(watcher);
    };
    watchers.add(watcher);
    watcher();
    return promise;
  }

  const { stopAt } = options;
  if (stopAt !== undefined) wrote(stopAt.pattern).then(() => child.kill(stopAt.signal), () => {});

  // The start-up lines are written together: the last one is there when the first one is.
  const started = await wrote(/listening on http:\S+\n/).then(() => true, () => false);
  if (!started) return { code: (await ended).code, ...collected };
  const url = /listening on (http:\S+)\n/.exec(collected.stdout)![1]!;
  const health = await fetch(`${url}/health`);
  await health.body?.cancel();

  function kill(signal: Deno.Signal): Promise<Deno.CommandStatus> {
    try {
      child.kill(signal);
    } catch {
      // It has ended already.
    }
    return ended;
  }
  return {
    url,
    pid: child.pid,
    dataDir,
    output: () => ({ ...collected }),
    wrote,
    status: ended,
    kill,
    terminate: () => kill("SIGTERM"),
    [Symbol.asyncDispose]: async () => void await kill("SIGKILL"),
  };
}

/** Mail wants 2 GiB free, which machines of tests may not have: a relay with mail on asks for none. */
function withRoomForMail(env: Record<string, string>): Record<string, string> {
  if (env.RELAY_MAIL_DEV === undefined && env.RELAY_MAIL_DOMAIN === undefined) return env;
  try {
    const limits = { mailMinFreeDiskBytes: 0, ...JSON.parse(env.RELAY_LIMITS ?? "{}") };
    return { ...env, RELAY_LIMITS: JSON.stringify(limits) };
  } catch {
    return env; // the relay refuses it by itself
  }
}

/** A flag whose folders of the project are found from any working directory. */
function fromHere(flag: string): string {
  const [name, values] = flag.split("=") as [string, string?];
  if (name !== "--allow-read" || values === undefined) return flag;
  const paths = values.split(",");
  const found = paths.map((path) => WORKER_MODULES.includes(path) ? pathOf(`../../${path}`) : path);
  return `${name}=${found.join(",")}`;
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  take: (text: string) => void,
): Promise<void> {
  // Not TextDecoderStream: its types do not fit the DOM's types, which browser tests load.
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
