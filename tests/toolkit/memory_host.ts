import { systemClock } from "../../toolkit/client/clock.ts";
import { nodeHttp } from "../../toolkit/node/http_receiver.ts";
import type { Host } from "../../toolkit/cli/host.ts";

/** A host without a machine, but for its loopback: files, environment and standard input are given, output is kept. */
export interface MemoryHost extends Host {
  readonly files: Map<string, string | Uint8Array>;
  out: string;
  err: string;
  stdout: Host["stdout"];
}

/** What a {@linkcode MemoryHost} begins with. */
export interface MemoryHostState {
  readonly stdin?: string | Uint8Array | readonly string[];
  /** A map is shared with other hosts. */
  readonly files?: Record<string, string | Uint8Array> | Map<string, string | Uint8Array>;
  /** Permission bits by path; 0600 where none are given. */
  readonly modes?: Readonly<Record<string, number>>;
  readonly env?: Record<string, string>;
  /** Which streams a person sees. */
  readonly terminals?: readonly ("stdin" | "stdout")[];
  /** What a person types when asked for a secret. */
  readonly secrets?: readonly string[];
  readonly interruption?: AbortSignal;
  readonly fetch?: typeof fetch;
  readonly askDnsServer?: Host["askDnsServer"];
  readonly callMailServer?: Host["callMailServer"];
  readonly clock?: Host["clock"];
}

/** The last work under a lock, by the files that hosts share: one lock file is enough for tests. */
const lastWork = new WeakMap<object, Promise<unknown>>();

/** Makes a host for one run of the command line. */
export function memoryHost(args: readonly string[], state: MemoryHostState = {}): MemoryHost {
  const { files: given = {} } = state;
  const files = given instanceof Map ? given : new Map(Object.entries(given));
  const secrets = [...state.secrets ?? []];
  const host: MemoryHost = {
    args,
    files,
    out: "",
    err: "",
    env: (name) => state.env?.[name],
    async *stdin() {
      const { stdin = "" } = state;
      if (stdin instanceof Uint8Array) yield stdin;
      else for (const chunk of typeof stdin === "string" ? [stdin] : stdin) yield utf8(chunk);
    },
    async *readFile(path) {
      const content = files.get(path);
      if (content === undefined) throw Object.assign(new Error("no file"), { code: "ENOENT" });
      yield typeof content === "string" ? utf8(content) : content;
    },
    writePrivateFile(path, text, overwrite) {
      if (files.has(path) && !overwrite) {
        return Promise.reject(Object.assign(new Error("exists"), { code: "EEXIST" }));
      }
      files.set(path, text);
      return Promise.resolve();
    },
    fileMode: (path) => Promise.resolve(files.has(path) ? state.modes?.[path] ?? 0o600 : undefined),
    withLock(_path, work) {
      const before = lastWork.get(files) ?? Promise.resolve();
      const done = before.then(work, work);
      lastWork.set(files, done);
      return done;
    },
    isTerminal: (stream) => state.terminals?.includes(stream) ?? false,
    askSecret(prompt) {
      host.err += prompt;
      const secret = secrets.shift();
      return secret === undefined
        ? Promise.reject(new Error("no passphrase was typed"))
        : Promise.resolve(secret);
    },
    interruption: () => state.interruption ?? new AbortController().signal,
    fetch: state.fetch ?? (() => Promise.reject(new TypeError("no network"))),
    systemDnsServers: () => [],
    askDnsServer: state.askDnsServer ?? (() => Promise.reject(new Error("no network"))),
    ...nodeHttp,
    callMailServer: state.callMailServer ?? (() => Promise.reject(new Error("no network"))),
    clock: state.clock ?? systemClock,
    stdout(text) {
      host.out += text;
      return Promise.resolve();
    },
    stderr(text) {
      host.err += text;
      return Promise.resolve();
    },
  };
  return host;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
