import { html } from "hono/html";
import type { Html } from "./html.ts";
import { visibleText } from "./visible_text.ts";

/**
 * Text of others inside a page: escaped, hidden characters visible, and its direction kept to itself
 * (`<bdi>`).
 * @param options as visibleText() takes them
 */
export function shownText(text: string, options?: { keepsLines?: boolean }): Html {
  return html`<bdi>${visibleText(text, options)}</bdi>`;
}
