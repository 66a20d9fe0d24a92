import { fileURLToPath } from "node:url";
import { residentMiB } from "./process_memory.ts";

const COMMAND = fileURLToPath(new URL("../toolkit/cli/main.ts", import.meta.url));
const SAMPLE_EVERY_LINES = 2_000;

/** What a run of `relay verify` over a stream took. */
export interface StreamRun {
  readonly linesPerSecond: number;
  /** The most memory that the process held while answering, in MiB. */
  readonly peakMiB: number;
}

/**
 * The heap that the process gets, in MiB: little more than it needs for one line. With more, the
 * engine collects garbage later, and garbage could not be told from what is kept.
 */
const HEAP_MIB = 32;

/**
 * Sends messages, one a line, through `relay verify` and watches the memory of its process. The
 * stream is made as fast as it is read, so that nothing of it waits anywhere.
 *
 * @param tails messages as JSON without their first member `{"id":N,`; they are repeated in turn
 * @param count how many lines
 * @param args what to tell `relay verify`
 * @throws Error where the system has no /proc, or when a line gets no verdict
 */
export async function verifyStream(
  tails: readonly string[],
  count: number,
  args: readonly string[],
): Promise<StreamRun> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      `--v8-flags=--max-old-space-size=${HEAP_MIB},--max-semi-space-size=2`,
      "--allow-read",
      "--allow-env",
      COMMAND,
      "verify",
      ...args,
    ],
    env: { RELAY_KEY_FILE: "", NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const beganMs = performance.now();
  const [, { answered, peakMiB }, { code }] = await Promise.all([
    lines(tails, count).pipeTo(child.stdin),
    watch(child),
    child.status,
  ]);
  if (peakMiB === 0) throw new Error("no sample of the memory could be taken");
  if (answered !== count) throw new Error(`${answered} of ${count} lines got a verdict (${code})`);
  return { linesPerSecond: count / ((performance.now() - beganMs) / 1000), peakMiB };
}

function lines(tails: readonly string[], count: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let id = 0;
  return new ReadableStream({
    pull(controller) {
      let chunk = "";
      for (let i = 0; i < 100 && id < count; i++) {
        chunk += `{"id":${++id},${tails[id % tails.length]}\n`;
      }
      if (chunk !== "") controller.enqueue(encoder.encode(chunk));
      if (id === count) controller.close();
    },
  }, { highWaterMark: 1 });
}

async function watch(child: Deno.ChildProcess): Promise<{ answered: number; peakMiB: number }> {
  let answered = 0;
  let peakMiB = 0;
  let nextSample = SAMPLE_EVERY_LINES;
  for await (const chunk of child.stdout) {
    for (const byte of chunk) if (byte === 0x0a) answered++;
    if (answered < nextSample) continue;
    nextSample = answered + SAMPLE_EVERY_LINES;
    peakMiB = Math.max(peakMiB, await residentMiB(child.pid) ?? 0);
  }
  return { answered, peakMiB };
}
