import assert from "node:assert/strict";
import { sectionOf, withoutSection } from "./document_section.ts";

const DOCUMENT = "# Title\n\nBefore.\n\n## One\n\nFirst.\n\n### Part\n\n## Two\n\nSecond.\n";

Deno.test("sectionOf() is one section with its heading as the title", () => {
  assert.equal(sectionOf(DOCUMENT, "One"), "# One\n\nFirst.\n\n### Part\n");
  assert.equal(sectionOf(DOCUMENT, "Two"), "# Two\n\nSecond.\n");
  assert.throws(() => sectionOf(DOCUMENT, "Three"), /no section "Three"/);
});

Deno.test("withoutSection() is the rest of the document", () => {
  assert.equal(withoutSection(DOCUMENT, "One"), "# Title\n\nBefore.\n\n## Two\n\nSecond.\n");
  assert.equal(
    withoutSection(DOCUMENT, "Two"),
    "# Title\n\nBefore.\n\n## One\n\nFirst.\n\n### Part\n",
  );
});
