import { html } from "hono/html";
import type { Html } from "./html.ts";
import { visibleText } from "./visible_text.ts";

/** Text to copy, such as a command or a key, in its lines: one click selects all of it, without a script. */
export function codeBlock(text: string): Html {
  return html`<pre class="copy"><code>${visibleText(text, { keepsLines: true })}</code></pre>`;
}
