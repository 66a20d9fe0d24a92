/** Cuts loops of two programs that answer each other (docs/mail.md). Pure. */
import { rateLimited } from "../../base/errors.ts";
import type { Automated } from "../reading/parsed/parsed_mail.ts";
import { admitOrRefuse, type Window } from "../../base/bounds/rate_window.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";

const MESSAGES_PER_HOUR = 20;
/** The limit when the last inbound message was automated. */
const ANSWERS_PER_HOUR = 10;

export interface ThreadTraffic {
  /** When the inbox's own messages of the thread were accepted, unix ms, oldest first; older ones may be left out. */
  ownAtMs: readonly number[];
  /** From the last inbound message; null where there was none. */
  lastInbound: Automated | null;
}

/**
 * Refuses one more message of an inbox in a thread.
 * @throws RelayError `rate_limited` with the time until one is allowed again
 */
export function refuseLoop({ ownAtMs, lastInbound }: ThreadTraffic, nowMs: number): void {
  const isAutomated = lastInbound !== null && lastInbound !== "none";
  const limit = isAutomated ? ANSWERS_PER_HOUR : MESSAGES_PER_HOUR;
  const window: Window = ownAtMs.flatMap((atMs) => [atMs, 1]);
  const why = isAutomated ? " while the last message that came in was automated" : "";
  const most =
    `an inbox may send at most ${limit} messages an hour in one thread${why}: two programs that answer each other would never end; wait, or write to a person in a new message`;
  admitOrRefuse(window, nowMs, { limit, windowMs: HOUR_MS }, (ms) => rateLimited(most, ms));
}
