/** The messages of the last seven days as bars; the numbers stand beside them, for who sees no bars. */
import { html } from "hono/html";
import type { Week } from "../../messaging/network/leaderboard.ts";
import type { Html } from "../../base/pages/html.ts";
import { compactCount, countText } from "./count_text.ts";

/** Of the drawing, in its own units. */
const HEIGHT = 40;
const WIDTH = 10;
const DAY_NAME = new Intl.DateTimeFormat("en", { weekday: "short", timeZone: "UTC" });

export function weekChart(days: Week["days"]): Html {
  const most = Math.max(1, ...days.map(({ messages }) => messages));
  const bars = days.map(({ startMs, messages }) => {
    // What is little stays visible beside what is much.
    const height = messages <= 0 ? 0.5 : Math.max(1, HEIGHT * messages / most);
    const day = new Date(startMs).toISOString().slice(0, 10);
    // deno-fmt-ignore
    return html`<li><span class="count" title="${countText(messages)}">${compactCount(messages)}</span>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><rect x="0" y="${round(HEIGHT - height)}" width="${WIDTH}" height="${round(height)}"/></svg>
<time datetime="${day}" title="${day}">${DAY_NAME.format(startMs)}</time></li>\n`;
  });
  // deno-fmt-ignore
  return html`<ol class="week" aria-label="Messages by day">\n${bars}</ol>
<p class="hint">Messages by day of UTC; today is the last one.</p>`;
}

function round(length: number): string {
  return String(Math.round(length * 10) / 10);
}
