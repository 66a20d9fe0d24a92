/** The log: one JSON object a line. */
import type { Clock } from "../base/time/clock.ts";
import type { Log } from "../base/log.ts";

/**
 * A log whose lines are {"time", "event", ...fields}. A line that cannot be written is lost: a
 * closed pipe must not stop a relay.
 * @param write takes one line with its line feed
 */
export function createLog(
  write: (line: string) => void = writeToStderr,
  now: Clock = Date.now,
): Log {
  return (event, fields) => {
    const line = JSON.stringify({ time: new Date(now()).toISOString(), event, ...fields });
    try {
      write(line + "\n");
    } catch {
      // Nowhere left to say it.
    }
  };
}

function writeToStderr(line: string): void {
  let rest = new TextEncoder().encode(line);
  while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
}
