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
    srcdoc: null,
    extracted: null,
    hasHidden: true,
  });
  assert.equal(preview({ text: "plain" }).hasHidden, false);
});

Deno.test("previewDraft() gives HTML as a value of srcdoc, and its words as a reader sees them", () => {
  const { srcdoc, extracted, hasHidden } = preview({
    html: `<p title="a">Seen</p><p style="display:none">Hidden</p>`,
  });
  assert.match(srcdoc!, /^&lt;!doctype html&gt;&lt;meta .*default-src 'none'/);
  assert.ok(!/["<>]/.test(srcdoc!), srcdoc!);
  assert.equal(extracted, "Seen");
  assert.equal(hasHidden, true);
});

Deno.test("previewDraft() takes the name of every element that reaches a host by itself", () => {
  const reaching = ["link", "LINK", "meta", "base", "iframe", "iFrAmE", "frame"];
  assert.equal(reaching.length, 7);
  for (const name of reaching) {
    for (const end of [" src=x>", "/src=x>", "\n>", ">", "\f>"]) {
      const { srcdoc } = preview({ html: `a<${name}${end}` });
      assert.ok(srcdoc!.includes(`a&lt;x-${name}`), `${name}${JSON.stringify(end)}`);
    }
  }
  for (const name of ["p", "frameset", "links-x", "metadata", "basefont"]) {
    assert.ok(preview({ html: `a<${name}>` }).srcdoc!.includes(`a&lt;${name}&gt;`), name);
  }
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
