/** A relay as a process of its own. */
import { fileURLToPath } from "node:url";

export interface SpawnOptions {
  /** Settings; PORT is a free one and RELAY_DATA_DIR a temporary folder unless given. */
  env?: Record<string, string>;
}

export interface SpawnedRelay extends AsyncDisposable {
  url: string;
  pid: number;
  dataDir: string;
  /** What it wrote so far. */
  output(): { stdout: string; stderr: string };
  /** Settles when the process has ended. */
  status: Promise<Deno.CommandStatus>;
  /** Sends a signal and waits for the end. */
  kill(signal: Deno.Signal): Promise<Deno.CommandStatus>;
  /** SIGTERM and the end it leads to. */
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
 * Starts server/main.ts with settings it must refuse.
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
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      `--config=${pathOf("../../deno.json")}`,
      "--allow-net",
      "--allow-env",
      "--allow-read",
      "--allow-write",
      "--allow-sys=statfs",
      pathOf("../../server/main.ts"),
    ],
    cwd: await Deno.realPath(dataDir),
    env: { PORT: "0", RELAY_DATA_DIR: dataDir, ...options.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  const collected = { stdout: "", stderr: "" };
  const listening = Promise.withResolvers<string | undefined>();
  const reading = [
    collect(child.stdout, (text) => {
      collected.stdout += text;
      const url = /listening on (http:\S+)/.exec(collected.stdout)?.[1];
      // The whole start-up text stands once its first line is followed by another.
      if (url !== undefined && collected.stdout.includes("\n")) listening.resolve(url);
    }),
    collect(child.stderr, (text) => void (collected.stderr += text)),
  ];
  const ended = (async () => {
    const status = await child.status;
    await Promise.all(reading);
    listening.resolve(undefined);
    if (ownDataDir) await Deno.remove(dataDir, { recursive: true });
    return status;
  })();

  const url = await listening.promise;
  if (url === undefined) return { code: (await ended).code, ...collected };
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
    status: ended,
    kill,
    terminate: () => kill("SIGTERM"),
    [Symbol.asyncDispose]: async () => void await kill("SIGKILL"),
  };
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  take: (text: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) take(text);
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
