/** GET /health and GET /health/db (specification, section 4.1). */
import { doneWithin } from "../base/time/done_within.ts";
import { RelayError } from "../base/errors.ts";
import { answerJson } from "../base/http/answers/answer.ts";
import type { Route } from "../base/http/routes/route.ts";
import type { ClockState } from "../base/storage/rows/clock_watch.ts";
import type { Rows } from "../base/storage/rows/rows.ts";
import { timestamp } from "../base/time/timestamp.ts";

/** How long a probe of the database may take before it counts as dead. */
const PROBE_TIMEOUT_MS = 2000;

/** True when the database answers a read in time. */
export type DatabaseProbe = () => Promise<boolean>;

/**
 * A probe that reads one key. Callers at the same moment share one read, so that a database that
 * hangs is not asked again and again.
 * @param timeoutMs greatest wait in milliseconds
 */
export function createDatabaseProbe(
  store: Pick<Rows, "get">,
  timeoutMs = PROBE_TIMEOUT_MS,
): DatabaseProbe {
  let running: Promise<boolean> | undefined;

  async function probe(): Promise<boolean> {
    try {
      return await doneWithin(store.get(["meta", "layout"]), timeoutMs);
    } catch {
      return false; // a closed store throws at once
    } finally {
      running = undefined;
    }
  }

  return () => running ??= probe();
}

/**
 * The two health routes; the first never touches the database.
 * @param clock how the clock stands; shown where it is not steady
 */
export function healthRoutes(isDatabaseAlive: DatabaseProbe, clock: () => ClockState): Route[] {
  return [
    {
      method: "GET",
      path: "/health",
      handle() {
        const current = clock();
        return answerJson({
          ok: true,
          ...current.state === "steady" ? {} : { clock: shownClock(current) },
        });
      },
    },
    {
      method: "GET",
      path: "/health/db",
      handle: async () => {
        if (await isDatabaseAlive()) return answerJson({ ok: true, db: true });
        throw new RelayError(
          "internal",
          "the database does not answer; reads and writes fail until it does",
        );
      },
    },
  ];
}

function shownClock(clock: ClockState) {
  const { state } = clock;
  if (state === "unsure") {
    return { state, ahead_ms: clock.leaptMs, left_ms: Math.ceil(clock.leftMs) };
  }
  return state === "behind" ? { state, until: timestamp(clock.untilMs) } : { state };
}
