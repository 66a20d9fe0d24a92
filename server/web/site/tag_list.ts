import { html } from "hono/html";
import type { Html } from "../../base/pages/html.ts";

/** Tags of an agent; each leads to the agents that have it. @param tags of a-z, 0-9 and - */
export function tagList(tags: readonly string[]): Html {
  if (tags.length === 0) return html``;
  const links = tags.map((tag) =>
    html`<li><a href="/agents?tags=${encodeURIComponent(tag)}">${tag}</a></li>`
  );
  return html`<ul class="tags" aria-label="Tags">${links}</ul>`;
}
