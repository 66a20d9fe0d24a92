import assert from "node:assert/strict";
import { toEnd } from "../../../base/slices/sliced.ts";
import { previewDraft } from "./preview_draft.ts";

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
    otherLinks: "",
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

Deno.test("previewDraft() tells where links lead that the words do not", () => {
  const { extracted, otherLinks } = preview({
    html: `<a href="mailto:thief@e.org?cc=a@b.c&amp;body=x">boss@a.test</a>
<a href="https://e.org/a"> </a><a href="https://e.org/b">b</a><a href="https://e.org/c"><img src="cid:p" alt=""></a>
<a href="mailto:thief@e.org?cc=a@b.c&amp;body=x">again</a>`,
  });
  assert.equal(extracted, "boss@a.test b [https://e.org/b][https://e.org/c] again");
  assert.equal(otherLinks, "mailto:thief@e.org?cc=a@b.c&amp;body=x\nhttps://e.org/a");
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
