/** The list of mail, and the places beside it. */
import { html } from "hono/html";
import { countText, type Html } from "../../base/pages/elements.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import { shortTimeText } from "./short_time.ts";
import type { Chip, MailLine, PlaceGroup } from "./view_model.ts";

/** So much of a line is written: what is longer is cut by its width anyway. */
const LINE_CHARACTERS = 250;

export function chip({ word, tone }: Chip): Html {
  return html`<span class="chip ${tone}">${visibleText(word)}</span>`;
}

/** A code as people read it aloud: in halves, where it is digits. */
export function spacedCode(code: string): string {
  const half = code.length / 2;
  return /^[0-9]{6}$|^[0-9]{8}$/.test(code) ? `${code.slice(0, half)} ${code.slice(half)}` : code;
}

/**
 * Rows, newest first.
 * @param nowMs what times are told from
 * @param dot what the dot of an unread one says to who does not see it
 */
export function mailRows(lines: readonly MailLine[], nowMs: number, dot = "Unread."): Html {
  return html`<ol class="rows" id="rows" data-live>${
    lines.map((one) => row(one, nowMs, dot))
  }</ol>`;
}

function row(line: MailLine, nowMs: number, dot: string): Html {
  const { href, who, subject, preview, atMs, isUnread, isChosen, count, code, found } = line;
  const state = isChosen
    ? html`
      aria-current="true"
    `
    : "";
  // deno-fmt-ignore
  return html`<li><a class="row${isUnread ? " unread" : ""}" href="${href}"${state}><span class="dot">${
    isUnread ? html`<span class="for-readers">${dot}</span>` : ""
  }</span><span class="who"><bdi>${lineText(who)}</bdi>${count > 1 ? html` <span class="soft">${countText(count)}</span>` : ""}</span
><span class="what"><span class="subject">${
    subject === null || subject.trim() === "" ? html`<span class="soft">no subject</span>` : html`<bdi>${lineText(subject)}</bdi>`
  }</span>${code === null ? "" : html`<span class="chip code">${visibleText(spacedCode(code))}</span>`}${
    line.chips.map(chip)
  }${line.hasAttachments ? html`<span class="chip">file</span>` : ""}</span
><span class="preview">${found ?? html`<bdi>${lineText(preview)}</bdi>`}</span>${shortTimeText(atMs, nowMs)}</a></li>\n`;
}

function lineText(text: string): string {
  return visibleText(text.slice(0, LINE_CHARACTERS).replaceAll(/\s+/g, " "));
}

/** @param label what the links are, for readers of the page */
export function placeLinks(groups: readonly PlaceGroup[], label: string): Html {
  const one = ({ href, label, isChosen, count }: PlaceGroup["places"][number]) =>
    // deno-fmt-ignore
    html`<li><a href="${href}"${isChosen ? html` aria-current="page"` : ""}><bdi>${visibleText(label)}</bdi>${
      count === 0 ? "" : html` <span class="count">${countText(count)}</span>`
    }</a></li>\n`;
  // deno-fmt-ignore
  return html`<nav class="places" id="places" aria-label="${label}" data-live>${groups.map(({ label, places }) =>
    html`<h2>${label}</h2>\n<ul>${places.map(one)}</ul>\n`
  )}</nav>`;
}
