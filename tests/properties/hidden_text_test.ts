/**
 * What the stack of html_text.ts shows of wrongly nested HTML against parse5's tree, which is what
 * browsers build: it may hide more, and never shows what is hidden there.
 */
import assert from "node:assert/strict";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { htmlToText } from "../../server/mail/reading/html/html_text.ts";
import { isLong } from "../support/long_test.ts";
import fc from "../support/seeded_fast_check.ts";

const NAMES =
  "p div span b font a i li ul ol dd dl table tr td th tbody section form h1 h2 button pre"
    .split(" ");

const piece = fc.oneof(
  fc.constantFrom(...NAMES).map((name) => `<${name}>`),
  fc.constantFrom(...NAMES).map((name) => `<${name} style="display:none">`),
  fc.constantFrom(...NAMES).map((name) => `</${name}>`),
  fc.constant("WORD"),
);

const doctype = fc.constantFrom(
  "",
  "<!DOCTYPE html>",
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">',
  '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN">',
);

/** Numbers of the words that a tree shows. */
function wordsSeen(html: string): Set<string> {
  const seen = new Set<string>();
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if ("attrs" in node && node.attrs.some(({ value }) => value === "display:none")) return;
    if ("value" in node) { for (const [word] of node.value.matchAll(/w\d+/g)) seen.add(word); }
    if ("childNodes" in node) node.childNodes.forEach(walk);
  };
  walk(parse(html));
  return seen;
}

Deno.test("htmlToText() shows nothing of wrongly nested HTML that a browser hides", () => {
  let shown = 0;
  let missing = 0;
  fc.assert(
    fc.property(doctype, fc.array(piece, { maxLength: 40 }), (start, pieces) => {
      let word = 0;
      const html = start +
        pieces.map((given) => given === "WORD" ? ` w${word++} ` : given).join("");
      const seen = wordsSeen(html);
      const ours = new Set(htmlToText(html).text.match(/w\d+/g) ?? []);
      assert.deepEqual([...ours.difference(seen)], [], html);
      shown += ours.size;
      missing += seen.difference(ours).size;
    }),
    { numRuns: isLong ? 5_000 : 1_500 },
  );
  // Hiding everything would be no answer. What is missing stood in hidden parts of tables: browsers
  // move or ignore these where they are misplaced.
  assert.ok(missing < shown / 5, `${missing} of ${shown + missing}`);
});
