/** What a page that brings itself up to date says of it, and how it is stopped. */
import { html } from "hono/html";
import { oneOf } from "../description/schemas/queries.ts";
import type { Html } from "./elements.ts";

/** Seconds after which a page may load itself again without a script. */
const PERIODS = ["5", "10", "30", "60"] as const;
export type LivePeriod = typeof PERIODS[number];

/** The query parameter `live` of such pages. */
export const LIVE = oneOf<LivePeriod, undefined>(PERIODS, undefined, {
  description: "Seconds after which a browser loads the page anew, by the header `Refresh`. For " +
    "browsers without JavaScript: with it, the page brings itself up to date.",
});

/**
 * The switch as it works without a script: links to the page that reloads itself, and to the one
 * that does not. Where LIVE_SCRIPT runs it takes its place.
 * @param path of the page, without a query
 */
export function liveBar(path: string, period: LivePeriod | undefined): Html {
  return period === undefined
    ? html`<p class="live" id="live"><a href="${path}?live=10">Load this page anew every 10 s</a></p>`
    : html`
      <p class="live"
        id="live"><span>Loaded anew every ${period} s.</span> <a href="${path}">Pause</a></p>
    `;
}

/** The header that makes a browser load a page again. */
export function liveHeaders(period: LivePeriod | undefined): Record<string, string> {
  return period === undefined ? {} : { Refresh: period };
}
