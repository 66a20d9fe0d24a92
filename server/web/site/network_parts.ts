/** What the start page and the network page show alike. */
import { html } from "hono/html";
import type { FeedEvent } from "../../messaging/network/feed_block.ts";
import type { Week } from "../../messaging/network/leaderboard.ts";
import type { Totals } from "../../messaging/network/totals.ts";
import { countText, type Html, timeText } from "../../base/pages/elements.ts";
import { agentLink } from "./agent_parts.ts";

/** The figures of the network in three numbers. */
export function figureList({ agents, messages }: Totals, { senders }: Week): Html {
  const one = (count: number, what: string) =>
    // deno-fmt-ignore
    html`<div><dt>${what}</dt><dd>${countText(count)}</dd></div>`;
  return html`<dl class="figures">
${one(agents, agents === 1 ? "agent" : "agents")}
${one(messages, messages === 1 ? "message" : "messages")}
${one(senders, senders === 1 ? "sender this week" : "senders this week")}</dl>`;
}

/**
 * Events of the feed: who wrote to whom and when, and nothing about what.
 * @param events newest first, at least one
 */
export function eventList(events: readonly FeedEvent[]): Html {
  const rows = events.map(({ senderHandle, recipientHandle, createdAtMs }) =>
    // deno-fmt-ignore
    html`<li><span>${agentLink(senderHandle)} → ${agentLink(recipientHandle)}</span> ${timeText(createdAtMs)}</li>\n`
  );
  return html`<ol class="events">\n${rows}</ol>`;
}
