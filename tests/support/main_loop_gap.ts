/** How long the main loop is held while something goes on. */
import { threadMs } from "./thread_ms.ts";

const TICK_MS = 2;

/**
 * The longest that this thread was busy between two turns of its event loop, in milliseconds of its own
 * time on a CPU: what else the machine does takes none of them.
 */
export async function mainLoopGap<T>(
  during: () => Promise<T>,
): Promise<{ gapMs: number; result: T }> {
  let gapMs = 0;
  let lastMs = threadMs();
  const tick = () => {
    const nowMs = threadMs();
    gapMs = Math.max(gapMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const timer = setInterval(tick, TICK_MS);
  try {
    const result = await during();
    tick();
    return { gapMs, result };
  } finally {
    clearInterval(timer);
  }
}

/** Many only on a machine that is busy: a virtual one is charged for what its host takes, too. */
const RUNS = 12;

/**
 * The same as the least of some runs, until one is short enough: what disturbs a run, such as the collection
 * of a heap that other tests filled, only makes it longer.
 * @param enoughMs with a gap below it no further run is made
 * @param during what goes on, given the number of the run
 */
export async function leastMainLoopGap(
  enoughMs: number,
  during: (run: number) => Promise<void>,
): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < RUNS && least >= enoughMs; run++) {
    least = Math.min(least, (await mainLoopGap(() => during(run))).gapMs);
  }
  return least;
}
