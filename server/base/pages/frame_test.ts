import assert from "node:assert/strict";
import { html } from "hono/html";
import { codeBlock, factList, notice, postButton } from "./elements.ts";
import { frame } from "./frame.ts";
import { RELAY_NAME } from "./frame.ts";

const HOSTILE = `</title><script>alert("&'")</script>\u202e`;
const SHOWN = "&lt;/title&gt;&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;";

Deno.test("frame() shows what others wrote as text, in titles, bodies and attributes", async () => {
  const page = await frame(HOSTILE, html`<a href="${HOSTILE}">${HOSTILE}</a>`);
  assert.ok(page.includes(`<title>${SHOWN}\\u{202e} - ${RELAY_NAME}</title>`));
  assert.ok(page.includes(`<h1><bdi>${SHOWN}\\u{202e}</bdi></h1>`));
  assert.ok(page.includes(`<a href="${SHOWN}\u202e">${SHOWN}\u202e</a>`));
  assert.ok(!page.includes("<script"));
});

Deno.test("frame() is a whole document without a style, a script or a handler of its own", async () => {
  const page = await frame("Title", html`<p>one</p>`, { isWide: true, heading: html`<i>T</i>` });
  assert.ok(page.startsWith("<!doctype html>\n<html lang="));
  assert.ok(page.endsWith("</html>\n"));
  assert.ok(page.includes("<h1><i>T</i></h1>"));
  assert.ok(page.includes(`<main id="main" class="wide">`));
  assert.doesNotMatch(page, /<style|<script|\s(style|on[a-z]+)=|https?:/i);
});

Deno.test("frame() has its links at the relay itself, under whatever name it is reached", async () => {
  const page = await frame(RELAY_NAME, html``);
  assert.ok(page.includes(`<title>${RELAY_NAME}</title>`));
  const targets = [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target!);
  assert.ok(targets.length >= 6);
  for (const target of targets) assert.match(target, /^(#main|\/(?!\/).*)$/);
});

Deno.test("the elements of pages escape what they are given", async () => {
  const elements = [
    notice("warning", HOSTILE),
    factList([["name", HOSTILE], null]),
    codeBlock(HOSTILE),
    postButton({ action: HOSTILE, label: HOSTILE, fields: { [HOSTILE]: HOSTILE }, kind: "danger" }),
  ];
  for (const element of elements) {
    const text = String(await element);
    assert.ok(text.includes(SHOWN), text);
    assert.ok(!text.includes("<script"), text);
  }
});

Deno.test("factList() leaves out what is null, codeBlock() keeps lines", async () => {
  const facts = String(await factList([["a", "1"], null, ["b", html`<i>2</i>`]]));
  assert.deepEqual(
    [...facts.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, value]) => [name, value]),
    [["a", "1"], ["b", "<i>2</i>"]],
  );
  assert.equal(
    String(await codeBlock("a\n b")),
    `<pre class="copy"><code>a\n b</code></pre>`,
  );
});

Deno.test("postButton() is a form of one button with its hidden fields", async () => {
  assert.equal(
    String(await postButton({ action: "confirm", label: "Confirm", fields: { token: "t" } })),
    `<form method="post" action="confirm"><input type="hidden" name="token" value="t">` +
      `<button class="primary">Confirm</button></form>`,
  );
});
