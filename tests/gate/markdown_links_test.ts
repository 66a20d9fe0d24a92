import assert from "node:assert/strict";
import { findDeadLinks } from "./markdown_links.ts";

function deadLinks(text: string, others: Record<string, string> = {}): string[] {
  const pages = Object.entries({ "docs/page.md": text, ...others })
    .map(([path, page]) => ({ path, text: page }));
  const files = new Set([...pages.map(({ path }) => path), "LICENSE", "server/app.ts"]);
  return findDeadLinks(pages, files);
}

Deno.test("findDeadLinks() follows links from the page's own folder", () => {
  assert.deepEqual(
    deadLinks("[a](../LICENSE) [b](page.md) [c](../server/) [d](./../server/app.ts)"),
    [],
  );
  assert.equal(deadLinks("[a](LICENSE)").length, 1);
  assert.deepEqual(deadLinks("[a](../nowhere.md)"), [
    "docs/page.md: ../nowhere.md leads to no file of the project",
  ]);
});

Deno.test("findDeadLinks() minds upper and lower case", () => {
  assert.equal(deadLinks("[a](../license)").length, 1);
});

Deno.test("findDeadLinks() reads reference definitions and titles", () => {
  assert.equal(deadLinks("[a][x]\n\n[x]: ../gone.md\n").length, 1);
  assert.equal(deadLinks('[a](../gone.md "title")').length, 1);
});

Deno.test("findDeadLinks() leaves addresses with a scheme and code alone", () => {
  const text = "[a](https://example.org/x) [b](mailto:x@example.org) `[c](gone.md)`\n" +
    "```md\n[d](gone.md)\n```\n";
  assert.deepEqual(deadLinks(text), []);
});

Deno.test("findDeadLinks() checks headings in the page and in others", () => {
  const other = "# The `relay` tour: step 1\n\n## Again\n\n## Again\n\n```sh\n# no heading\n```\n";
  const others = { "docs/other.md": other };
  const good = "## Here\n[a](#here) [b](other.md#the-relay-tour-step-1) [c](other.md#again-1)";
  assert.deepEqual(deadLinks(good, others), []);
  const bad = "[a](#there) [b](other.md#again-2) [c](other.md#no-heading)";
  assert.equal(deadLinks(bad, others).length, 3);
});
