/**
 * Runs a relay of short doubt that gives receivers of webhooks 300 ms for an answer, not 15 s, so that a
 * campaign has room for many that never answer.
 */
const { setTimeout } = globalThis;
const ANSWER_MS = 15_000;

globalThis.setTimeout = Object.assign(
  (callback: () => void, ms?: number) => setTimeout(callback, ms === ANSWER_MS ? 300 : ms),
  setTimeout,
);
await import("./relay_of_short_doubt.ts");
