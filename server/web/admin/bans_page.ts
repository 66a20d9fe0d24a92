/** The list of bans, with what can be done about each. */
import { html } from "hono/html";
import { factList, type Html, notice, postButton, shownText } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import type { ListedBan } from "../../messaging/operator/ban_record.ts";
import { utcTime } from "./utc_time.ts";

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

function banOf({ handle, address, reason, bannedAtMs }: ListedBan): Html {
  return html`<li><h2>${handle}</h2>${
    factList([
      ["Since", bannedAtMs === null ? "before the list was kept" : utcTime(bannedAtMs)],
      ["Reason", reason === null ? "none" : shownText(reason)],
      ["Address", html`<code>${address}</code>`],
    ])
  }<div class="actions">${
    postButton({
      action: "/admin/unban",
      label: `Unban ${handle}`,
      fields: { agent: address },
      kind: "secondary",
    })
  }${
    postButton({
      action: "/admin/purge",
      label: `Purge what ${handle} sent`,
      fields: { agent: address },
      kind: "secondary",
    })
  }</div></li>`;
}
