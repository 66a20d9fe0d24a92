/** What pages are made of. All text that they are given is escaped. */
import { html } from "hono/html";
import { visibleText } from "./visible_text.ts";

/** HTML as `html` makes it: what stands in its templates is escaped. */
export type Html = ReturnType<typeof html>;

export type NoticeKind = "info" | "success" | "warning" | "error";

/** A paragraph that stands out. @param content one or several sentences, without block elements */
export function notice(kind: NoticeKind, content: Html | string): Html {
  return html`<p class="notice ${kind}">${content}</p>`;
}

/**
 * A refusal for people. Messages of errors are written without capital and full stop, for programs to
 * quote: here they become a sentence.
 */
export function refusalNotice(message: string, kind: NoticeKind = "error"): Html {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return notice(kind, shownText(/[.!?]$/.test(text) ? text : `${text}.`));
}

/**
 * Text of others inside a page: escaped, hidden characters visible, and its direction kept to itself
 * (`<bdi>`).
 * @param options as visibleText() takes them
 */
export function shownText(text: string, options?: { keepsLines?: boolean }): Html {
  return html`<bdi>${visibleText(text, options)}</bdi>`;
}

/**
 * Text to copy, such as a command or a key, in its lines: one click selects all of it, without a script.
 * @param language such as "sh" or "python": what the text is in
 */
export function codeBlock(text: string, { language }: { language?: string } = {}): Html {
  // deno-fmt-ignore
  const named = language === undefined ? "" : html` class="language-${language}"`;
  const shown = visibleText(text, { keepsLines: true });
  // deno-fmt-ignore
  return html`<pre class="copy"><code${named}>${shown}</code></pre>`;
}

/** A moment in UTC, to the second. @param atMs unix ms */
export function timeText(atMs: number): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}

/** A count as people read it, such as 1,204. */
export function countText(count: number): string {
  return count.toLocaleString("en");
}

/** Names with their values, one beside the other where there is room. @param facts null ones are left out */
export function factList(facts: readonly (readonly [string, Html | string] | null)[]): Html {
  const rows = facts.filter((fact) => fact !== null).map(([name, value]) =>
    // deno-fmt-ignore
    html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`
  );
  return html`<dl class="facts">\n${rows}</dl>`;
}

/** What a column of a table holds, as its class says; "head": what names the row. */
export type Column = readonly [name: string, kind?: "head" | "number" | "when" | "fields"];

/** @param caption with it, a table scrolls by itself where there is no room, in a region of that name */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly (Html | string)[])[],
  caption?: string,
): Html {
  // deno-fmt-ignore
  const classOf = (kind: Column[1]) => kind === undefined || kind === "head" ? "" : html` class="${kind}"`;
  const cellOf = (value: Html | string, i: number) => {
    const kind = columns[i]![1];
    // deno-fmt-ignore
    return kind === "head" ? html`<th scope="row">${value}</th>` : html`<td${classOf(kind)}>${value}</td>`;
  };
  const heads = columns.map(([name, kind]) =>
    // deno-fmt-ignore
    html`<th scope="col"${kind === "number" ? classOf(kind) : ""}>${name}</th>`
  );
  // deno-fmt-ignore
  const whole = html`<table>${caption === undefined ? "" : html`\n<caption>${caption}</caption>`}
<thead><tr>${heads}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map(cellOf)}</tr>\n`)}</tbody>
</table>`;
  if (caption === undefined) return whole;
  // deno-fmt-ignore
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">${whole}</div>`;
}

export interface PostButton {
  /** Where it leads, on this relay alone: the policy of every page lets no form go elsewhere. */
  action: string;
  label: string;
  /** Hidden fields of the form's body, application/x-www-form-urlencoded. */
  fields?: Readonly<Record<string, string>>;
  /** "primary" unless given; "danger" for what cannot be undone. */
  kind?: "primary" | "secondary" | "danger";
}

/** A form that is one button: what happens by it happens by no mere visit of the page. */
export function postButton({ action, label, fields = {}, kind = "primary" }: PostButton): Html {
  const hidden = Object.entries(fields)
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  // deno-fmt-ignore
  return html`<form method="post" action="${action}">${hidden}<button class="${kind}">${label}</button></form>`;
}
