/** Reads what an org has counted. */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { dayOf, figuresKey, type FiguresRecord } from "../records/figures_record.ts";
import type { HourCounts } from "./periods.ts";

/** The hours of an org's days from the one of startMs to the one before endMs, as the store has them. */
export async function readFigures(
  store: Rows,
  orgId: string,
  startMs: number,
  endMs: number,
): Promise<HourCounts[]> {
  const selector = {
    start: figuresKey.under(orgId, dayOf(startMs)),
    end: figuresKey.under(orgId, endMs),
  };
  const days = await store.list<FiguresRecord>(selector);
  return days.flatMap(({ key, value: { hours } }) =>
    Object.entries(hours).map(([hour, counts]) => ({
      atMs: (key[2] as number) + Number(hour) * HOUR_MS,
      counts,
    }))
  );
}
