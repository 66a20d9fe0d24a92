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

/** What `relay mail inject` ends with in place of these: mail servers know them (sysexits.h). */
export const Sysexit = {
  ok: 0,
  /** Wrong usage. */
  usage: 64,
  /** The message or the envelope is too large or malformed. */
  dataError: 65,
  /** No recipient has an inbox that takes it. */
  noUser: 67,
  /** It may work later. */
  tempFail: 75,
  /** The relay does not take the signature. */
  noPermission: 77,
  /** No secret, no relay, or a relay that takes no mail in. */
  config: 78,
} as const;

/** One of {@linkcode Sysexit}. */
export type Sysexit = typeof Sysexit[keyof typeof Sysexit];
