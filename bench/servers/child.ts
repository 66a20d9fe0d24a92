/** Servers and workers of the benchmark as processes of their own: they print one JSON line when ready. */

export interface Child<T> extends AsyncDisposable {
  /** What the child printed when it was ready. */
  ready: T;
  /** Asks the child for one round: a line in, a JSON line out. */
  ask<A>(line: string): Promise<A>;
  stop(): Promise<void>;
}

/**
 * Starts a script of this folder.
 * @param script file name
 * @param argument one JSON argument
 */
export async function startChild<T>(script: string, argument: unknown): Promise<Child<T>> {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--unstable-kv",
      "--unstable-cron",
      new URL(script, import.meta.url).pathname,
      JSON.stringify(argument),
    ],
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
    if (done) throw new Error(`${script} ended`);
    return JSON.parse(value);
  }
  async function stop(): Promise<void> {
    await writer.close().catch(() => {});
    await process.status;
    await lines.cancel().catch(() => {});
  }

  return {
    ready: await readLine<T>(),
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

/** In the child: answers each line of standard input with one JSON line, until it ends. */
export async function answerLines(answer: (line: string) => unknown): Promise<void> {
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(splitLines());
  for await (const line of lines) console.log(JSON.stringify(await answer(line)));
}
