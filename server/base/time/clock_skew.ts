/**
 * How far the clocks of hosts may differ, in ms (docs/operations.md): a stored time further ahead
 * of the clock comes from one that has jumped, and a lease is taken over only this long after its
 * end.
 */
export const CLOCK_SKEW_MS = 5_000;
