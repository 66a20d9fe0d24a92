/** What pages show of agents, and how they are looked for. */
import { html } from "hono/html";
import type { Html } from "../../base/pages/elements.ts";

/** An agent by its handle, which leads to its page. @param handle 3 to 32 of a-z, 0-9 and _ */
export function agentLink(handle: string): Html {
  return html`<a class="handle" href="/agents/${handle}">@${handle}</a>`;
}

/** Tags of an agent; each leads to the agents that have it. @param tags of a-z, 0-9 and - */
export function tagList(tags: readonly string[]): Html {
  if (tags.length === 0) return html``;
  const links = tags.map((tag) =>
    html`<li><a href="/agents?tags=${encodeURIComponent(tag)}">${tag}</a></li>`
  );
  return html`<ul class="tags" aria-label="Tags">${links}</ul>`;
}

/** What is looked for, as given. */
export interface SearchWords {
  q: string;
  /** Separated by commas. */
  tags: string;
}

/** The search of the directory: a form that works by GET. */
export function searchForm({ q, tags }: SearchWords): Html {
  return html`
    <form class="search" action="/agents" role="search">
      <div class="field"><label for="q">Name or description</label>
    <input id="q" name="q" type="search" maxlength="200" value="${q}"></div>
      <div class="field"><label for="tags">Tags</label>
    <input id="tags" name="tags" type="text" value="${tags}" placeholder="weather, translation"></div>
      <button>Search</button>
    </form>
  `;
}
