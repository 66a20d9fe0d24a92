import assert from "node:assert/strict";
import { html } from "hono/html";
import { answerPage, pageOf } from "./page.ts";

Deno.test("pageOf() shows what others wrote as text, in titles, bodies and attributes", async () => {
  const hostile = `<script>alert("&'")</script>`;
  const page = await pageOf(hostile, html`<a href="${hostile}">${hostile}</a>`);
  const shown = "&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;";
  assert.ok(page.includes(`<title>${shown}</title>`));
  assert.ok(page.includes(`<h1>${shown}</h1>`));
  assert.ok(page.includes(`<a href="${shown}">${shown}</a>`));
  assert.ok(!page.includes("<script"));
});

Deno.test("pageOf() is a whole document, from its doctype on", async () => {
  const page = await pageOf("Title", html`<p>one</p>`);
  assert.ok(page.startsWith("<!doctype html>\n<html lang="));
  assert.ok(page.endsWith("</html>\n"));
  assert.equal(await answerPage(page).text(), page);
});
