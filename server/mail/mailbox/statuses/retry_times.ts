/** When a recipient is tried again (docs/mail.md, "What became of it"). Pure. */
import type { RetryWaits } from "../../../base/notices/retry_waits.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time/time_units.ts";

export const MAIL_WAITS: RetryWaits = {
  waitsMs: [
    MINUTE_MS,
    5 * MINUTE_MS,
    15 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
    4 * HOUR_MS,
    8 * HOUR_MS,
  ],
  orLonger: true,
};
/** How long a recipient is tried, from the acceptance or the time that the sender chose. */
export const TRIED_MS = DAY_MS;

/** From when on a message's recipients are tried, unix ms. */
export function triedFromMs(row: { createdAtMs: number; sendAtMs: number | null }): number {
  return row.sendAtMs ?? row.createdAtMs;
}
