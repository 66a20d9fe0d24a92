/** What checks of senders may take of the relay, and of the time of those who wait. */
export interface CheckerBounds {
  /** Places for mails in the worker; most of these wait for DNS (next_check.ts). */
  underWay: number;
  /** Their bytes that it has not hashed yet; one larger mail goes alone. */
  bytes: number;
  /** Mails that wait for either. */
  waiting: number;
  waitMs: number;
  /** For DNS, of a mail behind which others of its org wait; else what the lookups are given. */
  hurriedMs: number;
  /** From a mail's entry into the worker to its result. */
  checkMs: number;
  /** A worker that says nothing for so long, asked or not, is ended. */
  silenceMs: number;
}

export const CHECKER_BOUNDS: CheckerBounds = {
  underWay: 64,
  bytes: 48 * 1024 * 1024,
  waiting: 500,
  waitMs: 20_000,
  hurriedMs: 1_000,
  checkMs: 30_000,
  silenceMs: 10_000,
};
