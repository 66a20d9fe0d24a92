/** What a ban or a purge does, said before the button that does it. */
import { html } from "hono/html";
import type { Identity } from "../../messaging/agents/agent_records.ts";
import { factList, type Html, postButton, shownText } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";

/** @param reason as the operator gave it, "" for none */
export function confirmBanPage(agent: Identity, reason: string): Promise<string> {
  return frame(
    `Ban ${agent.handle}?`,
    html`${factsOf(agent, [["Reason", reason === "" ? "none" : shownText(reason)]])}
<p>From now on it cannot send, receive or change its profile, and is shown nowhere. It still reads its
own inbox. What it sent stays in the inboxes of others. An unban undoes all of it.</p>
<div class="actions">
${
      postButton({
        action: "/admin/ban",
        label: "Ban it",
        fields: { agent: agent.address, reason, confirmed: "yes" },
        kind: "danger",
      })
    }
<a class="button secondary" href="/admin">Not now</a></div>`,
  );
}

export function confirmPurgePage(agent: Identity): Promise<string> {
  return frame(
    `Purge what ${agent.handle} sent?`,
    html`${factsOf(agent)}
<p>Every message that it has sent until now is deleted from the inboxes of others and from its outbox,
delivered or not. <strong>This cannot be undone</strong>, not by an unban either.</p>
<div class="actions">
${
      postButton({
        action: "/admin/purge",
        label: "Delete all that it sent",
        fields: { agent: agent.address, confirmed: "yes" },
        kind: "danger",
      })
    }
<a class="button secondary" href="/admin/bans">Not now</a></div>`,
  );
}

function factsOf(
  { handle, wordName, address }: Identity,
  further: readonly (readonly [string, Html | string])[] = [],
): Html {
  return html`<div class="card">${
    factList([
      ["Handle", html`<code>${handle}</code>`],
      ["Word name", html`<code>${wordName}</code>`],
      ["Address", html`<code>${address}</code>`],
      ...further,
    ])
  }</div>`;
}
