import assert from "node:assert/strict";
import { framedHtml, remoteAddresses } from "./html_frame.ts";
import { readMail } from "./read_mail.ts";

const GIF = "R0lGODlhAQABAAAAACw=";
const MAIL = (html: string, picture = GIF) =>
  new TextEncoder().encode(`From: a@x.test
MIME-Version: 1.0
Content-Type: multipart/related; boundary=m

--m
Content-Type: text/html; charset=utf-8

${html}
--m
Content-Type: image/gif
Content-Transfer-Encoding: base64
Content-ID: <logo@x>

${picture}
--m
Content-Type: image/svg+xml
Content-ID: <drawing@x>

<svg onload="alert(1)"/>
--m--
`.replaceAll("\n", "\r\n"));

const framed = async (html: string) => {
  const raw = MAIL(html);
  return await framedHtml({ raw, content: await readMail(raw) });
};

Deno.test("framedHtml() puts a mail's own pictures into it, and nothing that could run", async () => {
  const shown = await framed(
    '<img src="cid:logo@x"><img src="cid:drawing@x"><img src="cid:none@x">',
  );
  assert.ok(shown.includes(`<img src="data:image/gif;base64,${GIF}">`), shown);
  assert.match(shown, /cid:drawing@x/);
  assert.match(shown, /cid:none@x/);
});

Deno.test("framedHtml() counts a picture as often as the HTML names it", async () => {
  const raw = MAIL('<img src="cid:logo@x">'.repeat(50), new Uint8Array(1_000_000).toBase64());
  const shown = await framedHtml({ raw, content: await readMail(raw) });
  assert.ok(shown.length < 10_000_000, `${shown.length} characters`);
});

Deno.test("framedHtml() leaves no element that connects or leads elsewhere before a policy is asked", async () => {
  const hostile = [
    '<link rel="preconnect" href="https://evil.test">',
    '<LINK rel=dns-prefetch href="//evil.test">',
    "<li<link>nk rel=preconnect href=//evil.test>",
    '<meta http-equiv="refresh" content="0;url=https://evil.test">',
    '<base href="https://evil.test/">',
  ];
  assert.equal(hostile.length, 5);
  for (const html of hostile) assert.doesNotMatch(await framed(html), /<(?:link|meta|base)/i, html);
});

Deno.test("remoteAddresses() tells what would be loaded, each once, in linear time", () => {
  const html = `<img src="https://a.test/1"><img src='//b.test/2'><td background=http://c.test/3>
<p style="background: url(https://d.test/4)"><img src="https://a.test/1"><img src="cid:x"><a href="https://e.test">e</a>`;
  assert.deepEqual(remoteAddresses(html), [
    "https://a.test/1",
    "//b.test/2",
    "http://c.test/3",
    "https://d.test/4",
  ]);
  const many = Array.from({ length: 2_000 }, (_, i) => `<img src="https://x.test/${i}">`).join("");
  assert.equal(remoteAddresses(many).length, 50);
  const began = performance.now();
  remoteAddresses("src = ".repeat(50_000) + "url( ".repeat(50_000));
  assert.ok(performance.now() - began < 1_000);
});
