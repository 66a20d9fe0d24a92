/** Periods of figures: 24 or 168 UTC hours, 30 or 90 UTC days, the running one the last. Pure. */
import { DAY_MS, HOUR_MS } from "../../base/time/time_units.ts";
import type { Counts } from "../records/figures_record.ts";
import { added } from "../records/figures_record.ts";

export const PERIODS = ["24h", "7d", "30d", "90d"] as const;
export type PeriodName = typeof PERIODS[number];

export interface Period {
  bucket: "hour" | "day";
  bucketMs: number;
  buckets: number;
}

const LENGTHS: Readonly<Record<PeriodName, Period>> = {
  "24h": { bucket: "hour", bucketMs: HOUR_MS, buckets: 24 },
  "7d": { bucket: "hour", bucketMs: HOUR_MS, buckets: 168 },
  "30d": { bucket: "day", bucketMs: DAY_MS, buckets: 30 },
  "90d": { bucket: "day", bucketMs: DAY_MS, buckets: 90 },
};

export interface Span extends Period {
  /** Beginning of the first bucket, and end of the running one, unix ms. */
  startMs: number;
  endMs: number;
}

export function spanOf(name: PeriodName, nowMs: number): Span {
  const period = LENGTHS[name];
  const { bucketMs, buckets } = period;
  const endMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  return { ...period, startMs: endMs - buckets * bucketMs, endMs };
}

/** What was counted in an hour. */
export interface HourCounts {
  /** Beginning of the hour, unix ms. */
  atMs: number;
  counts: Counts;
}

/** The counts of each bucket of a span, the oldest first, those without any included. */
export function bucketsOf(span: Span, hours: readonly HourCounts[]): HourCounts[] {
  const series = Array.from({ length: span.buckets }, (_, i): HourCounts => ({
    atMs: span.startMs + i * span.bucketMs,
    counts: {},
  }));
  for (const { atMs, counts } of hours) {
    const bucket = series[Math.floor((atMs - span.startMs) / span.bucketMs)];
    if (atMs >= span.startMs && bucket !== undefined) bucket.counts = added(bucket.counts, counts);
  }
  return series;
}

/** The counts of a whole span. */
export function totalOf(span: Span, hours: readonly HourCounts[]): Counts {
  return bucketsOf(span, hours).reduce((sum, { counts }) => added(sum, counts), {} as Counts);
}
