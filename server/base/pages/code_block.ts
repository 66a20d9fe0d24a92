import { html } from "hono/html";
import type { Html } from "./html.ts";
import { visibleText } from "./visible_text.ts";

export interface CodeBlockOptions {
  /** Such as "sh" or "python": what the text is in. */
  language?: string;
}

/** Text to copy, such as a command or a key, in its lines: one click selects all of it, without a script. */
export function codeBlock(text: string, { language }: CodeBlockOptions = {}): Html {
  // deno-fmt-ignore
  const named = language === undefined ? "" : html` class="language-${language}"`;
  const shown = visibleText(text, { keepsLines: true });
  // deno-fmt-ignore
  return html`<pre class="copy"><code${named}>${shown}</code></pre>`;
}
