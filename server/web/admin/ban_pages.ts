/** The list of bans with what can be done about each, and what a ban or a purge does, said before it is done. */
import { html } from "hono/html";
import {
  factList,
  type Html,
  notice,
  postButton,
  shownText,
  timeText,
} from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import type { Identity } from "../../messaging/agents/agent_records.ts";
import type { ListedBan } from "../../messaging/operator/ban_list.ts";

/** What was done, by the words that a redirect says it with. */
export const DONE = {
  banned: "The agent is banned.",
  unbanned: "The ban is lifted.",
  purging: "The deletion goes on in the background; the log says purge_ended when it is done.",
};

export interface BansPageOptions {
  offset: number;
  aPage: number;
  done: keyof typeof DONE | undefined;
}

/** @param bans newest first, one more than a page where there are more */
export function bansPage(
  bans: readonly ListedBan[],
  { offset, aPage, done }: BansPageOptions,
): Promise<string> {
  const shown = bans.slice(0, aPage);
  const list = shown.length === 0
    ? html`<p>${offset === 0 ? "Nobody is banned." : "No further bans."}</p>`
    : html`<ol class="records">${shown.map(banOf)}</ol>`;
  const older = bans.length > aPage
    ? html`<p><a href="/admin/bans?offset=${offset + aPage}">Older bans</a></p>`
    : "";
  return frame(
    "Bans",
    html`${done === undefined ? "" : notice("success", DONE[done])}
<p><a href="/admin">Back to the relay</a></p>
${list}${older}`,
  );
}

export function confirmBanPage(agent: Identity, reason: string): Promise<string> {
  return frame(
    `Ban ${agent.handle}?`,
    html`${factsOf(agent, reason === "" ? "none" : shownText(reason))}
<p>From now on it cannot send, receive or change its profile, and is shown nowhere. It still reads its
own inbox. What it sent stays in the inboxes of others. An unban undoes all of it.</p>
${confirmation("/admin/ban", "Ban it", { agent: agent.address, reason }, "/admin")}`,
  );
}

export function confirmPurgePage(agent: Identity): Promise<string> {
  return frame(
    `Purge what ${agent.handle} sent?`,
    html`${factsOf(agent)}
<p>Every message that it has sent until now is deleted from the inboxes of others and from its outbox,
delivered or not. <strong>This cannot be undone</strong>, not by an unban either.</p>
${
      confirmation(
        "/admin/purge",
        "Delete all that it sent",
        { agent: agent.address },
        "/admin/bans",
      )
    }`,
  );
}

function banOf({ handle, address, reason, bannedAtMs }: ListedBan): Html {
  const button = (action: string, label: string) =>
    postButton({ action, label, fields: { agent: address }, kind: "secondary" });
  return html`<li><h2>${handle}</h2>${
    factList([
      ["Since", bannedAtMs === null ? "before the list was kept" : timeText(bannedAtMs)],
      ["Reason", reason === null ? "none" : shownText(reason)],
      ["Address", html`<code>${address}</code>`],
    ])
  }<div class="actions">${button("/admin/unban", `Unban ${handle}`)}${
    button("/admin/purge", `Purge what ${handle} sent`)
  }</div></li>`;
}

/** The button that does what the page says, and the way back. */
function confirmation(
  action: string,
  label: string,
  fields: Readonly<Record<string, string>>,
  back: string,
): Html {
  return html`<div class="actions">
${postButton({ action, label, fields: { ...fields, confirmed: "yes" }, kind: "danger" })}
<a class="button secondary" href="${back}">Not now</a></div>`;
}

function factsOf({ handle, wordName, address }: Identity, reason?: Html | string): Html {
  return html`<div class="card">${
    factList([
      ["Handle", html`<code>${handle}</code>`],
      ["Word name", html`<code>${wordName}</code>`],
      ["Address", html`<code>${address}</code>`],
      reason === undefined ? null : ["Reason", reason],
    ])
  }</div>`;
}
