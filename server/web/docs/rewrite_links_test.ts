import assert from "node:assert/strict";
import { rewriteLinks } from "./rewrite_links.ts";

const rewrite = (markdown: string) =>
  rewriteLinks(
    markdown,
    (href, text) => href === "gone.md" ? null : { href: `/to/${href}`, text: text.toUpperCase() },
  );

Deno.test("rewriteLinks() rewrites inline links, over lines and with code in their text", () => {
  assert.equal(
    rewrite("a [b](c.md#d), [two\nlines](e) and [`x`](f); [g](gone.md)."),
    "a [B](/to/c.md#d), [TWO\nLINES](/to/e) and [`X`](/to/f); g.",
  );
});

Deno.test("rewriteLinks() leaves code as it is", () => {
  const code = "`[a](b)` and `x` [\n\n```md\n[a](b)\n```\n";
  assert.equal(rewrite(code), code);
  assert.equal(rewrite("`a` then [b](c)"), "`a` then [B](/to/c)");
});
