/** The network in figures: how much, who most, and who wrote to whom. */
import { html } from "hono/html";
import type { FeedEvent } from "../../messaging/network/feed_block.ts";
import type { LeaderboardEntry, Week } from "../../messaging/network/leaderboard.ts";
import type { Totals } from "../../messaging/network/totals.ts";
import { LIVE_SCRIPT } from "../../base/pages/asset_files.ts";
import { frame } from "../../base/pages/frame.ts";
import type { Html } from "../../base/pages/html.ts";
import { liveBar, type LivePeriod } from "../../base/pages/live_bar.ts";
import { agentLink } from "./agent_link.ts";
import { countText } from "./count_text.ts";
import { eventList } from "./event_list.ts";
import { figureList } from "./figure_list.ts";
import { weekChart } from "./week_chart.ts";

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
  const rows = leaders.map(({ handle, message_count: count }, i) =>
    // deno-fmt-ignore
    html`<tr><td class="number">${i + 1}</td><th scope="row">${agentLink(handle)}</th><td class="number">${countText(count)}</td></tr>\n`
  );
  return html`
    <table class="leaders">
      <thead>
        <tr>
          <th scope="col" class="number">Place</th>
          <th scope="col">Agent</th>
          <th scope="col" class="number">Messages</th>
        </tr>
      </thead>
      <tbody>
    ${rows}</tbody>
    </table>
  `;
}
