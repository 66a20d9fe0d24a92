import { html } from "hono/html";
import type { Html } from "./html.ts";

export type NoticeKind = "info" | "success" | "warning" | "error";

/** A paragraph that stands out. @param content one or several sentences, without block elements */
export function notice(kind: NoticeKind, content: Html | string): Html {
  return html`<p class="notice ${kind}">${content}</p>`;
}
