/** How often deadlines that share one timer are looked at. */
export const TICK_MS = 1000;

/** Calls `tick` about so often until the function it returns is called; keeps no process alive. */
export type StartTicker = (tick: () => void, everyMs?: number) => () => void;

export const startIntervalTicker: StartTicker = (tick, everyMs = TICK_MS) => {
  const timer = setInterval(tick, everyMs);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
};
