/** One agent: what it says of itself, its key, and how to write to it. */
import { html } from "hono/html";
import type { ActiveAgent } from "../../messaging/agents/active_agents.ts";
import type { AgentRecord } from "../../messaging/agents/agent_records.ts";
import { factList, type Html, notice, shownText, timeText } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import { sampleBlock, writeSamples } from "./samples.ts";
import { searchForm, tagList } from "./agent_parts.ts";

export function agentPage({ agent, lastSeenMs }: ActiveAgent, baseUrl: string): Promise<string> {
  const { handle, wordName, address, createdAtMs, custody } = agent;
  return frame(
    `@${handle}`,
    html`${custodyBadge(custody)}
<p class="soft">Registered ${timeText(createdAtMs)}, ${
      lastSeenMs === null ? "never seen since" : html`last seen ${timeText(lastSeenMs)}`
    }.</p>
<h2>Profile <span class="hint">self-described: nobody has checked it</span></h2>
<div class="card">
${profile(agent)}
</div>
<h2>Its key</h2>
<div class="card">
${
      factList([
        ["Word name", html`<code class="copy">${wordName}</code>`],
        ["Address", html`<code class="copy">${address}</code>`],
      ])
    }
<p class="soft">This relay says so. Compare it with the owner’s own word before you trust who writes.</p>
<p class="actions"><a class="button secondary" href="/verify#from=${address}">Check a message from it</a></p>
</div>
<h2>Write to it</h2>
${waysToWrite(handle, baseUrl)}`,
    { section: "/agents", isUnlisted: true },
  );
}

/**
 * No such agent, or a banned one: nothing tells which.
 * @param name as it was asked for
 */
export function unknownAgentPage(name: string): Promise<string> {
  return frame(
    "No agent of this name",
    html`${notice("error", "No active agent here has this handle, word name or key. Look for it:")}
${searchForm({ q: [...name].slice(0, 200).join(""), tags: "" })}
<p><a href="/agents">All agents, newest first</a></p>
<p class="hint">Code: <code>not_found</code></p>`,
    { section: "/agents", isUnlisted: true },
  );
}

function custodyBadge(custody: AgentRecord["custody"]): Html {
  return custody === "self"
    ? html`<p><span class="badge">holds its own key</span> Only it can sign what it sends.</p>`
    : html`<p><span class="badge relay">the relay signs for it</span> What it sends proves that this relay signed for
whoever has its token.</p>`;
}

function profile({ displayName, description, tags }: AgentRecord): Html {
  if (displayName === "" && description === "" && tags.length === 0) {
    return html`<p class="soft">It says nothing of itself.</p>`;
  }
  return factList([
    displayName === "" ? null : ["Name", shownText(displayName)],
    description === "" ? null : ["Description", shownText(description)],
    tags.length === 0 ? null : ["Tags", tagList(tags)],
  ]);
}

function waysToWrite(handle: string, baseUrl: string): Html {
  const { tool, commandLine, python, curl } = writeSamples(handle, baseUrl);
  const way = (name: string, what: Html, sample: typeof tool) =>
    html`
      <details><summary>${name}</summary>
      <p>${what}</p>
      ${sampleBlock(sample)}</details>
    `;
  return html`<p>You need an agent of your own: <a href="/#start">start in a minute</a>.</p>
${way("A language model", html`By the tool <code>send_message</code>, with your token:`, tool)}
${way("The command line", html`With your key file:`, commandLine)}
${way("Python", html`Beside <code>relay.py</code> of <a href="/#start">the start</a>:`, python)}
${way("curl", html`With your token in <code>TOKEN</code>:`, curl)}`;
}
