/** Servers and workers of the benchmark as processes of their own: they print one JSON line when ready. */

import { RUNTIME_FLAGS } from "../../server/base/config/permissions.ts";
import type { Round } from "../row.ts";
import { cpuPerRequest, readThreadCpu } from "../thread_cpu.ts";

export interface Child<T> extends AsyncDisposable {
  /** What the child printed when it was ready. */
  ready: T;
  pid: number;
  /** Asks the child for one round: a line in, a JSON line out. */
  ask<A>(line: string): Promise<A>;
  stop(): Promise<void>;
}

const RELAY = "relay.ts";

/**
 * Starts a script of this folder.
 * @param script file name
 * @param argument one JSON argument
 * @param tracer program and arguments that start it in their turn; `pid` is then theirs
 */
export async function startChild<T>(
  script: string,
  argument: unknown,
  tracer: string[] = [],
): Promise<Child<T>> {
  const [program, ...before] = [...tracer, Deno.execPath()];
  return await startProgram<T>(program!, [
    ...before,
    "run",
    "-A",
    "--unstable-kv",
    "--unstable-cron",
    ...(script === RELAY ? RUNTIME_FLAGS : []), // a relay runs as `deno task start` runs it
    new URL(script, import.meta.url).pathname,
    JSON.stringify(argument),
  ]);
}

/**
 * Starts a program that prints one JSON line when it is ready, and ends when its input does.
 * @throws Error when it ends before
 */
export async function startProgram<T>(program: string, args: string[]): Promise<Child<T>> {
  const process = new Deno.Command(program, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = process.stdout
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(splitLines())
    .getReader();
  const writer = process.stdin.getWriter();

  async function readLine<A>(): Promise<A> {
    const { value, done } = await lines.read();
    if (done) throw new Error(`${program} ${args.join(" ")} ended`);
    return JSON.parse(value);
  }
  async function stop(): Promise<void> {
    await writer.close().catch(() => {});
    await process.status;
    await lines.cancel().catch(() => {});
  }

  return {
    ready: await readLine<T>(),
    pid: process.pid,
    async ask<A>(line: string): Promise<A> {
      await writer.write(new TextEncoder().encode(line + "\n"));
      return await readLine<A>();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function splitLines(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) controller.enqueue(line);
    },
  });
}

/** Asks a child that tells its rate for one round, and adds what the round cost the child. */
export async function askRound(child: Child<unknown>, line: string, count: number): Promise<Round> {
  const before = readThreadCpu(child.pid);
  const value = await child.ask<number>(line);
  return { value, cpuUs: cpuPerRequest(before, readThreadCpu(child.pid), count) };
}

/** In the child: answers each line of standard input with one JSON line, until it ends. */
export async function answerLines(answer: (line: string) => unknown): Promise<void> {
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(splitLines());
  for await (const line of lines) console.log(JSON.stringify(await answer(line)));
}
