/** Memory of `relay verify` over a long stream of messages against that over a tenth of it. */
import { generateKeyPair } from "../../toolkit/mod.ts";
import type { Row } from "../row.ts";
import { sampleMessage } from "../sample_message.ts";
import { verifyStream } from "../verify_stream.ts";

const LINES = 30_000;
const MESSAGES = 500;

export const streamMemory: Row = {
  id: "verify-stream-memory",
  title: `memory of relay verify over ${LINES.toLocaleString("en")} lines against ${
    (LINES / 10).toLocaleString("en")
  }`,
  unit: "MiB",
  target: { rule: "at most", ratio: 1.25 },
  warmUp: false,
  slow: true,
  rounds: 3, // each starts a process for either side, and memory hardly differs
  prepare() {
    const recipient = generateKeyPair();
    const tails = Array.from({ length: MESSAGES }, (_, i) => messageTail(i, recipient.address));
    const args = ["--json", "--to", recipient.address];
    const peaks = { long: 0, short: 0 };
    let linesPerSecond = 0;
    return Promise.resolve({
      async ours() {
        const run = await verifyStream(tails, LINES, args);
        linesPerSecond = run.linesPerSecond;
        return peaks.long = run.peakMiB;
      },
      async reference() {
        return peaks.short = (await verifyStream(tails, LINES / 10, args)).peakMiB;
      },
      note() {
        const bytesPerLine = (peaks.long - peaks.short) * 2 ** 20 / (LINES * 0.9);
        return `last round: ${Math.round(linesPerSecond)} lines/s; ${bytesPerLine.toFixed(0)} ` +
          `bytes more a line, which a million lines would make ${
            Math.round(bytesPerLine * 1e6 / 2 ** 20)
          } MiB`;
      },
      close: () => Promise.resolve(),
    });
  },
};

/** A message as JSON from its second member on; `id` comes first and is not signed. */
function messageTail(i: number, to: string): string {
  const { id: _, ...rest } = sampleMessage(i, generateKeyPair(), to);
  return JSON.stringify(rest).slice(1);
}
