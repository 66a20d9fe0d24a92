/** The command line as a process of its own, on Deno or Node.js. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleForNode } from "./node_bundle.ts";

const MAIN = fileURLToPath(new URL("../../toolkit/cli/main.ts", import.meta.url));

/** A program that runs the command line, and what stands before the verb. */
export type Program = readonly [string, ...string[]];

/** What verbs that talk to no relay get. */
export const OFFLINE = ["--allow-read", "--allow-write", "--allow-env"];
/** What `deno task relay` grants. */
export const ONLINE = [...OFFLINE, "--allow-net"];

export function onDeno(permissions: readonly string[]): Program {
  return [Deno.execPath(), "run", "--quiet", "--no-prompt", ...permissions, MAIN];
}

/**
 * @param node the name of the program
 * @param folder where to put the bundle
 */
export function onNode(node: string, folder: string): Program {
  return [node, bundleForNode("toolkit/cli/main.ts", folder)];
}

export interface ProgramOptions {
  /** The home folder; nothing of this machine's own environment reaches the program. */
  home: string;
  env?: Record<string, string>;
}

function environmentOf({ home, env }: ProgramOptions): Record<string, string> {
  const { PATH = "", DENO_DIR, HOME = "/" } = Deno.env.toObject();
  return { PATH, DENO_DIR: DENO_DIR ?? join(HOME, ".cache/deno"), HOME: home, ...env };
}

/** Runs one verb to its end. */
export async function runProgram(
  [program, ...before]: Program,
  args: readonly string[],
  { stdin = "", ...options }: ProgramOptions & { stdin?: string },
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(program, [...before, ...args], {
    env: environmentOf(options),
    stdio: "pipe",
  });
  child.stdin.end(stdin);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { code, out, err };
}

/** A verb that goes on, read line by line. */
export interface FollowingProgram {
  /** All lines that it printed so far, once there are as many. */
  lines(count: number): Promise<string[]>;
  /** What it wrote on standard error so far, once that matches. */
  told(pattern: RegExp): Promise<string>;
  /** @returns its exit code */
  end(signal: "SIGINT" | "SIGTERM"): Promise<number>;
}

export function followProgram(
  [program, ...before]: Program,
  args: readonly string[],
  options: ProgramOptions,
): FollowingProgram {
  // Not node:child_process: on Deno it reports the signal that was sent in place of the exit code.
  const child = new Deno.Command(program, {
    args: [...before, ...args],
    env: environmentOf(options),
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let out = "";
  let err = "";
  let hasEnded = false;
  const watchers = new Set<() => void>();
  const look = () => [...watchers].forEach((watcher) => watcher());

  async function collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void) {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      take(decoder.decode(chunk, { stream: true }));
      look();
    }
  }
  const reading = [
    collect(child.stdout, (text) => out += text),
    collect(child.stderr, (text) => err += text),
  ];
  const ended = (async () => {
    const { code } = await child.status;
    await Promise.all(reading);
    hasEnded = true;
    look();
    return code;
  })();

  function until<T>(read: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      function watcher() {
        const value = read();
        if (value === undefined && !hasEnded) return;
        watchers.delete(watcher);
        if (value === undefined) reject(new Error(`the program ended: ${err}${out}`));
        else resolve(value);
      }
      watchers.add(watcher);
      watcher();
    });
  }

  return {
    lines: (count) =>
      until(() => {
        const lines = out.split("\n").slice(0, -1);
        return lines.length >= count ? lines : undefined;
      }),
    told: (pattern) => until(() => pattern.test(err) ? err : undefined),
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
