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
