import { html } from "hono/html";
import type { Html } from "../../base/pages/html.ts";

/** An agent by its handle, which leads to its page. @param handle 3 to 32 of a-z, 0-9 and _ */
export function agentLink(handle: string): Html {
  return html`<a class="handle" href="/agents/${handle}">@${handle}</a>`;
}
