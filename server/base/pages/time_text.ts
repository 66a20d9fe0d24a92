import { html } from "hono/html";
import type { Html } from "./html.ts";

/** A moment in UTC, to the second. @param atMs unix ms */
export function timeText(atMs: number): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`;
}
