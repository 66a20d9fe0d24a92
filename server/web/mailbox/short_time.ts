import { html } from "hono/html";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import type { Html } from "../../base/pages/elements.ts";

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** "now", "2 min", "3 h", "4 d", from a week on "Nov 21", of another year "Nov 21, 2025". Pure, UTC. */
export function shortTime(atMs: number, nowMs: number): string {
  const ageMs = Math.abs(nowMs - atMs);
  const ahead = atMs > nowMs ? "in " : "";
  if (ageMs < MINUTE_MS) return "now";
  if (ageMs < HOUR_MS) return `${ahead}${Math.floor(ageMs / MINUTE_MS)} min`;
  if (ageMs < DAY_MS) return `${ahead}${Math.floor(ageMs / HOUR_MS)} h`;
  if (ageMs < 7 * DAY_MS) return `${ahead}${Math.floor(ageMs / DAY_MS)} d`;
  const at = new Date(atMs);
  const day = `${MONTHS[at.getUTCMonth()]} ${at.getUTCDate()}`;
  const year = at.getUTCFullYear();
  return year === new Date(nowMs).getUTCFullYear() ? day : `${day}, ${year}`;
}

/** The same, with the exact moment for who points at it, and for programs. */
export function shortTimeText(atMs: number, nowMs: number): Html {
  const iso = new Date(atMs).toISOString();
  const exact = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return html`<time datetime="${iso}" title="${exact}">${shortTime(atMs, nowMs)}</time>`;
}
