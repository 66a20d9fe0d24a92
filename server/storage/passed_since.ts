/** How long ago something was, for whoever must not have been away for longer than a lease. */
import type { Store } from "./store.ts";

/**
 * Begins to measure.
 * @returns ms since then by the clock that shows more: the monotonic one goes on while the wall stands or
 * leaps, and the wall while the machine sleeps. A wall that leapt back counts as much as one that leapt
 * ahead: what was stored by it is as wrong for others.
 */
export function passedSince({ clock, elapsed }: Pick<Store, "clock" | "elapsed">): () => number {
  const wall = () => clock.possibleTimes.at(-1)!;
  const [wallMs, monotonicMs] = [wall(), elapsed()];
  return () => Math.max(elapsed() - monotonicMs, Math.abs(wall() - wallMs));
}
