import { html } from "hono/html";
import type { Html } from "../../base/pages/html.ts";

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
