import type { Store } from "../storage/rows/store.ts";
import { MINUTE_MS } from "../time/time_units.ts";
import type { AttemptOutcome } from "./outgoing_handler.ts";

/**
 * The outcome of an attempt of what is not wanted any more, where time may have decided that: soon after a
 * leap it is asked again a minute later, as the clock may come back.
 */
export function unwanted(
  reason: string,
  { clock }: Pick<Store, "clock">,
): AttemptOutcome<never> {
  if (!clock.leaptLately) return { result: "dropped", reason };
  return {
    result: "retry",
    reason: `${reason}, by a clock that has leapt`,
    afterMs: MINUTE_MS,
    untried: true,
  };
}
