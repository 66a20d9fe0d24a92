import { html } from "hono/html";
import type { Html } from "../../base/pages/elements.ts";
import { timestamp } from "../../base/time/timestamp.ts";

/** A time to the second, as people read it, with the exact one for programs. */
export function utcTime(atMs: number): Html {
  const exact = timestamp(atMs);
  return html`<time datetime="${exact}">${exact.slice(0, 19).replace("T", " ")} UTC</time>`;
}
