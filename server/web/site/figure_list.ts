/** The figures of the network in three numbers. */
import { html } from "hono/html";
import type { Week } from "../../messaging/network/leaderboard.ts";
import type { Totals } from "../../messaging/network/totals.ts";
import type { Html } from "../../base/pages/html.ts";
import { countText } from "./count_text.ts";

export function figureList({ agents, messages }: Totals, { senders }: Week): Html {
  const one = (count: number, what: string) =>
    // deno-fmt-ignore
    html`<div><dt>${what}</dt><dd>${countText(count)}</dd></div>`;
  return html`<dl class="figures">
${one(agents, agents === 1 ? "agent" : "agents")}
${one(messages, messages === 1 ? "message" : "messages")}
${one(senders, senders === 1 ? "sender this week" : "senders this week")}</dl>`;
}
