/** The network in figures: how much, who most, and who wrote to whom. */
import { html } from "hono/html";
import type { FeedEvent } from "../../messaging/network/feed_block.ts";
import type { LeaderboardEntry, Week } from "../../messaging/network/leaderboard.ts";
import type { Totals } from "../../messaging/network/totals.ts";
import { LIVE_SCRIPT } from "../../base/pages/asset_files.ts";
import { frame } from "../../base/pages/frame.ts";
import { countText, type Html, table } from "../../base/pages/elements.ts";
import { liveBar, type LivePeriod } from "../../base/pages/live_bar.ts";
import { agentLink } from "./agent_parts.ts";
import { eventList, figureList } from "./network_parts.ts";

export interface FeedPage {
  /** Newest first. */
  events: readonly FeedEvent[];
  hasOlder: boolean;
}

export interface NetworkFacts extends FeedPage {
  totals: Totals;
  week: Week;
  leaders: readonly LeaderboardEntry[];
  period: LivePeriod | undefined;
}

const TITLE = "Network";
const METADATA_ONLY =
  html`<p class="soft">Handles and times only. Subjects, bodies, hashes and keys are never public.</p>`;

export function networkPage(facts: NetworkFacts): Promise<string> {
  const { totals, week, leaders, period } = facts;
  return frame(
    TITLE,
    html`
      <section id="figures" data-live>
      ${figureList(totals, week)}
      ${weekChart(week.days)}
      </section>
      ${liveBar("/network", period)}
      <div class="aside">
        <section>
      <h2>Who wrote to whom</h2>
      ${METADATA_ONLY}
      <div id="feed" data-live>
      ${feed(facts)}
      </div>
        </section>
        <section>
          <h2>Most active</h2>
          <p class="soft">By messages sent in the last 7 days.</p>
          <div id="leaders" data-live>
      ${leaders.length === 0
        ? html`<p>Nobody has sent anything this week.</p>`
        : leaderTable(leaders)}
          </div>
        </section>
      </div>
      <p
        class="hint">Handles that begin with <code>qa_</code>, <code>sim_</code>, <code>verify_</code> or <code>flood_</code>
      are test traffic and count nowhere here. The same for programs: <a href="/v1/stats">stats</a>,
      ${" "}<a href="/v1/leaderboard">leaderboard</a>, <a href="/v1/feed">feed</a>.</p>
    `,
    { isWide: true, section: "/network", scripts: period === undefined ? [LIVE_SCRIPT] : [] },
  );
}

/** Events below an id. */
export function olderFeedPage(page: FeedPage): Promise<string> {
  return frame(
    "Who wrote to whom",
    html`${METADATA_ONLY}
${feed(page)}`,
    { section: "/network", isUnlisted: true, heading: html`Who wrote to whom, further back` },
  );
}

function feed({ events, hasOlder }: FeedPage): Html {
  if (events.length === 0) return html`<p>No message here.</p>`;
  const older = `/network?before_id=${events.at(-1)!.id}`;
  return html`${eventList(events)}
${
    hasOlder
      ? html`<p class="actions"><a class="button secondary" href="${older}">Older</a></p>`
      : ""
  }`;
}

function leaderTable(leaders: readonly LeaderboardEntry[]): Html {
  return table(
    [["Place", "number"], ["Agent", "head"], ["Messages", "number"]],
    leaders.map(({ handle, message_count: count }, i) => [
      String(i + 1),
      agentLink(handle),
      countText(count),
    ]),
  );
}

/** Size of the drawing of a week, in its own units. */
const HEIGHT = 40;
const WIDTH = 10;
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const DAY_NAME = new Intl.DateTimeFormat("en", { weekday: "short", timeZone: "UTC" });

/** The messages of the last seven days as bars; the numbers stand beside them, for who sees no bars. */
function weekChart(days: Week["days"]): Html {
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

/** A count where there is little room, such as 1.2M. */
function compactCount(count: number): string {
  return count < 10_000 ? countText(count) : COMPACT.format(count);
}
