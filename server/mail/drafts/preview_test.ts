import assert from "node:assert/strict";
import { toEnd } from "../parsing/sliced.ts";
import { previewDraft } from "./preview.ts";

const preview = (texts: { text?: string; html?: string }) =>
  toEnd(
    previewDraft(
      new TextEncoder().encode(JSON.stringify({ text: null, html: null, headers: [], ...texts })),
    ),
  );

Deno.test("previewDraft() escapes text and writes out what does not show", () => {
  assert.deepEqual(preview({ text: `<b>&"\n\u202ex` }), {
    text: "&lt;b&gt;&amp;&quot;\n\\u{202e}x",
    extracted: null,
    hasHidden: true,
  });
  assert.equal(preview({ text: "plain" }).hasHidden, false);
});

Deno.test("previewDraft() gives the words of HTML as a reader sees them", () => {
  const { extracted, hasHidden } = preview({
    html: `<p title="a">Seen &amp; <a href="https://e.org/">read</a></p>`,
  });
  assert.equal(extracted, "Seen &amp; read [https://e.org/]");
  assert.equal(hasHidden, false);
});

Deno.test("previewDraft() is done with the largest texts within the time of a job", () => {
  const MIB = 1024 * 1024;
  const worst = [
    { html: '"'.repeat(MIB) },
    { html: "<iframe>".repeat(MIB / 8) },
    { text: "\u200b".repeat(MIB / 3) },
  ];
  assert.equal(worst.length, 3);
  for (const texts of worst) {
    const beganMs = performance.now();
    preview(texts);
    assert.ok(performance.now() - beganMs < 5_000);
  }
});
