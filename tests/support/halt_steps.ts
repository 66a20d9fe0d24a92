/** Steps of receiving a mail at which relay_halting.ts can halt, in their order. */
export const HALT_STEPS = [
  "body read",
  "known to be new",
  "inbox found",
  "before parsing",
  "parsed",
  "before bytes",
  "mark filled",
  "mark named",
  "file filled",
  "file flushed",
  "file named",
  "bytes written",
  "before commit",
  "commit formed",
  "committed",
  "before answer",
] as const;

export type HaltStep = (typeof HALT_STEPS)[number];

/** Steps of the first mail of a store alone. */
export const FIRST_MAIL_STEPS: readonly HaltStep[] = ["mark filled", "mark named"];
