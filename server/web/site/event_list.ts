/** Events of the feed as pages show them: who wrote to whom and when, and nothing of what. */
import { html } from "hono/html";
import type { FeedEvent } from "../../messaging/network/feed_block.ts";
import type { Html } from "../../base/pages/html.ts";
import { timeText } from "../../base/pages/time_text.ts";
import { agentLink } from "./agent_link.ts";

/** @param events newest first, at least one */
export function eventList(events: readonly FeedEvent[]): Html {
  const rows = events.map(({ senderHandle, recipientHandle, createdAtMs }) =>
    // deno-fmt-ignore
    html`<li><span>${agentLink(senderHandle)} → ${agentLink(recipientHandle)}</span> ${timeText(createdAtMs)}</li>\n`
  );
  return html`<ol class="events">\n${rows}</ol>`;
}
