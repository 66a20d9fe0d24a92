import { html } from "hono/html";
import type { Html } from "./html.ts";

/** An address as it stands in lists: cut off to the eye, whole to the clipboard and to a pointer. */
export function addressText(address: string): Html {
  return html`<code class="copy cut" title="${address}">${address}</code>`;
}
