/** How often deadlines that share one timer are looked at. */
export const TICK_MS = 1000;

/** Calls `tick` about once a second until the function it returns is called; keeps no process alive. */
export type StartTicker = (tick: () => void) => () => void;

export const startIntervalTicker: StartTicker = (tick) => {
  const timer = setInterval(tick, TICK_MS);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
};
