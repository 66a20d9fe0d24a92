/** What the command line ends with; scripts rely on these numbers. */
export const ExitCode = {
  /** Every requested check passed; for other verbs: done. */
  passed: 0,
  /** Something is false. */
  false: 1,
  /** Malformed input or usage. */
  malformed: 2,
  /** Nothing is false, but a body is not bound to its signature. */
  unbound: 3,
  /** The relay refused. */
  refused: 4,
  /** No relay answered. */
  unreachable: 5,
} as const;

/** One of {@linkcode ExitCode}. */
export type ExitCode = typeof ExitCode[keyof typeof ExitCode];
