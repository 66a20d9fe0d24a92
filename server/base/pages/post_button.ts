import { html } from "hono/html";
import type { Html } from "./html.ts";

export interface PostButton {
  /** Where it leads, on this relay alone: the policy of every page lets no form go elsewhere. */
  action: string;
  label: string;
  /** Hidden fields of the form's body, application/x-www-form-urlencoded. */
  fields?: Readonly<Record<string, string>>;
  /** "primary" unless given; "danger" for what cannot be undone. */
  kind?: "primary" | "secondary" | "danger";
}

/** A form that is one button: what happens by it happens by no mere visit of the page. */
export function postButton({ action, label, fields = {}, kind = "primary" }: PostButton): Html {
  const hidden = Object.entries(fields)
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  // deno-fmt-ignore
  return html`<form method="post" action="${action}">${hidden}<button class="${kind}">${label}</button></form>`;
}
