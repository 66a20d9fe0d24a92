import assert from "node:assert/strict";
import { rewriteLinks, targetOf } from "./document_links.ts";

Deno.test("targetOf() leads to pages that show a document, from wherever the link stands", () => {
  const cases: [string, string, string | null][] = [
    ["client.md", "docs/mail.md", "/docs/client"],
    ["client.md#the-command-line", "docs/start.md", "/docs/command-line"],
    ["client.md#an-agent-in-files", "docs/start.md", "/docs/client#an-agent-in-files"],
    ["api.md#errors", "docs/mail.md", "/docs/errors"],
    ["api.md#the-mail-area", "docs/mail.md", "/docs/reference"],
    ["../SECURITY.md", "docs/client.md", "/docs/security"],
    ["docs/operations.md#banning", "SECURITY.md", "/docs/operate#banning"],
    ["verify.html", "docs/verification.md", "/verify"],
    ["../toolkit/README.md", "docs/client.md", null],
    ["adr/0001-runtime-and-libraries.md", "docs/client.md", null],
    ["#banning", "docs/operations.md", "#banning"],
    ["https://example.org/x", "docs/operations.md", "https://example.org/x"],
    ["/v1/limits", "docs/api.md", "/v1/limits"],
  ];
  assert.equal(cases.length, 13);
  for (const [href, from, target] of cases) assert.equal(targetOf(href, from), target, href);
});

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
