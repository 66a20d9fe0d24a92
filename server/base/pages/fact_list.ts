import { html } from "hono/html";
import type { Html } from "./html.ts";

/** Names with their values, one beside the other where there is room. @param facts null ones are left out */
export function factList(facts: readonly (readonly [string, Html | string] | null)[]): Html {
  const rows = facts.filter((fact) => fact !== null).map(([name, value]) =>
    // deno-fmt-ignore
    html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`
  );
  return html`<dl class="facts">\n${rows}</dl>`;
}
