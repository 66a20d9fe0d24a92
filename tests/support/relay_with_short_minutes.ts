/** Runs server/main.ts with minutes of 50 ms for what it does each minute. */
const { setInterval } = globalThis;
const MINUTE_MS = 60_000;

globalThis.setInterval = Object.assign(
  (callback: () => void, everyMs?: number) =>
    setInterval(callback, everyMs === MINUTE_MS ? 50 : everyMs),
  setInterval,
);
await import("../../server/main.ts");
