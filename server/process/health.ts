/** GET /health and GET /health/db (specification, section 4.1). */
import { z } from "@hono/zod-openapi";
import { publicRoute } from "../base/description/declaration.ts";
import { count, time } from "../base/description/schemas/values.ts";
import { doneWithin } from "../base/time/done_within.ts";
import { RelayError } from "../base/errors.ts";
import { answerJson } from "../base/http/answers/answer.ts";
import type { ClockState } from "../base/storage/rows/clock_watch.ts";
import type { Rows } from "../base/storage/rows/rows.ts";
import { timestamp } from "../base/time/timestamp.ts";
import { LAYOUT_KEY } from "../base/storage/rows/layout.ts";

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
      return await doneWithin(store.get(LAYOUT_KEY), timeoutMs);
    } catch {
      return false; // a closed store throws at once
    } finally {
      running = undefined;
    }
  }

  return () => running ??= probe();
}

export interface HealthServices {
  clock: () => ClockState;
  /** Names of the ways in; null while mail is off. */
  mailIn: () => readonly string[] | null;
}

const Health = z.object({
  ok: z.boolean(),
  clock: z.object({
    state: z.enum(["unsure", "behind", "impossible"]).openapi({
      description: "unsure: it leapt ahead, and what would write is answered 503 until it has " +
        "stayed for a minute; behind: it is before a time by which things were decided, and " +
        "nothing is refused by that; impossible: it is not between 2025 and 2090, and what would " +
        "write is answered 503 until it is set right.",
    }),
    ahead_ms: z.int().openapi({ format: "int64", description: "unsure: by how much it leapt." })
      .optional(),
    left_ms: count("unsure: after so many milliseconds it is taken for right.").optional(),
    until: time("behind: that later time.").optional(),
  }).openapi({
    "x-addition": true,
    description: "Absent while the relay's clock can be relied on.",
  }).optional(),
  mail_in: z.array(z.enum(["smtp", "gateway", "local"])).openapi({
    "x-addition": true,
    description: "How mail from outside can come in; none: not at all. Absent while mail is off.",
  }).optional(),
}).openapi("Health");

const readHealth = publicRoute({
  method: "GET",
  path: "/health",
  id: "readHealth",
  tag: "Service",
  summary: "Is the process alive",
  words: {
    description:
      "Never touches the database. For load balancers: `ok` is true whatever `clock` says.",
    answers: { 200: { description: "It is.", content: { schema: Health } } },
  },
  handle: ({ clock, mailIn }: HealthServices) => () => {
    const ways = mailIn();
    const current = clock();
    return answerJson({
      ok: true,
      ...current.state === "steady" ? {} : { clock: shownClock(current) },
      ...ways === null ? {} : { mail_in: ways },
    });
  },
});

const DatabaseOk = z.object({ ok: z.boolean(), db: z.boolean() }).openapi("DatabaseOk");

const readDatabaseHealth = publicRoute({
  method: "GET",
  path: "/health/db",
  id: "readDatabaseHealth",
  tag: "Service",
  summary: "Does the database answer",
  words: {
    description: "Reads one key of the store, for at most 2 s.",
    answers: { 200: { description: "It does.", content: { schema: DatabaseOk } } },
    errors: { internal: "the database does not answer" },
  },
  handle: ({ isDatabaseAlive }: { isDatabaseAlive: DatabaseProbe }) => async () => {
    if (await isDatabaseAlive()) return answerJson({ ok: true, db: true });
    throw new RelayError(
      "internal",
      "the database does not answer; reads and writes fail until it does",
    );
  },
});

export const HEALTH_ROUTES = [readHealth, readDatabaseHealth];

function shownClock(clock: ClockState) {
  const { state } = clock;
  if (state === "unsure") {
    return { state, ahead_ms: clock.leaptMs, left_ms: Math.ceil(clock.leftMs) };
  }
  return state === "behind" ? { state, until: timestamp(clock.untilMs) } : { state };
}
