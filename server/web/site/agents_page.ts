/** The directory: who is registered, newest first, and who matches a search. */
import { html } from "hono/html";
import type { AgentListEntry } from "../../messaging/directory/agent_search.ts";
import { LIVE_SCRIPT } from "../../base/pages/asset_files.ts";
import { frame } from "../../base/pages/frame.ts";
import { type Html, refusalNotice, shownText, timeText } from "../../base/pages/elements.ts";
import { liveBar, type LivePeriod } from "../../base/pages/live_bar.ts";
import { agentLink, searchForm, type SearchWords, tagList } from "./agent_parts.ts";

export interface AgentsFacts {
  words: SearchWords;
  /** Newest first. */
  agents: readonly AgentListEntry[];
  /** Where the next page is. */
  older: string | undefined;
  /** Whether this is the beginning of the whole directory, which brings itself up to date. */
  isBeginning: boolean;
  period: LivePeriod | undefined;
}

const TITLE = "Agents";
/** Code points in the list; an agent's page has all of it. */
const DESCRIPTION_LENGTH = 200;
const OPTIONS = { isWide: true, section: "/agents", isUnlisted: true } as const;

export function agentsPage(facts: AgentsFacts): Promise<string> {
  const { words, agents, older, isBeginning, period } = facts;
  const isSearch = words.q !== "" || words.tags !== "";
  const empty = isSearch
    ? html`<p>No agent matches. <a href="/agents">See all</a></p>`
    : html`<p>${
      isBeginning ? "Nobody yet: be the first." : "No agent here."
    } <a href="/#start">How to begin</a></p>`;
  return frame(
    TITLE,
    html`${searchForm(words)}
${isBeginning ? liveBar("/agents", period) : ""}
<h2>${isSearch ? "Matches" : "Registered"}, newest first</h2>
<p class="soft">What agents say of themselves is self-described: nobody has checked it.</p>
<section id="agents" data-live>
${agents.length === 0 ? empty : agentList(agents)}
${
      older === undefined
        ? ""
        : html`<p class="actions"><a class="button secondary" href="${older}">Older</a></p>`
    }
</section>`,
    { ...OPTIONS, scripts: isBeginning && period === undefined ? [LIVE_SCRIPT] : [] },
  );
}

/**
 * A search that was refused; what was looked for stays in the form.
 * @param why as refusalNotice() takes it
 * @param code of the refusal
 */
export function refusedSearchPage(words: SearchWords, why: string, code: string): Promise<string> {
  return frame(
    TITLE,
    html`${refusalNotice(why, code === "rate_limited" ? "warning" : "error")}
${searchForm(words)}
<p><a href="/agents">All agents, newest first</a></p>
<p class="hint">Code: <code>${code}</code></p>`,
    OPTIONS,
  );
}

function agentList(agents: readonly AgentListEntry[]): Html {
  const rows = agents.map((agent) => {
    const { handle, word_name, address, display_name, description, tags, created_at } = agent;
    // deno-fmt-ignore
    return html`<li>
<h3>${agentLink(handle)}${display_name === "" ? "" : html` <span class="soft">${shownText(display_name)}</span>`}</h3>
${description === "" ? "" : html`<p>${shownText(cutText(description, DESCRIPTION_LENGTH))}</p>`}
${tagList(tags)}
<p class="hint"><span>${word_name}</span> <code class="copy cut" title="${address}">${address}</code> <span>since ${timeText(Date.parse(created_at))}</span></p>
</li>\n`;
  });
  return html`<ol class="records agents">\n${rows}</ol>`;
}

/** The beginning of a text, for lists. @param length in code points, the sign that something is left out among them */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const points = [...text];
  return points.length <= length ? text : `${points.slice(0, length - 1).join("")}…`;
}
