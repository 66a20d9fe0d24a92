/** A time in milliseconds: unix time of a wall clock, or of a monotonic one from a start of its own. */
export type Clock = () => number;
