import assert from "node:assert/strict";
import { shownText } from "./elements.ts";
import { visibleText } from "./visible_text.ts";

Deno.test("visibleText() shows what is hidden or turns the text around, and leaves the rest", () => {
  const hidden: [string, string][] = [
    ["a\u202eb", "a\\u{202e}b"],
    ["\u0000\t\r\n\u007f\u009f", "\\u{0}\\u{9}\\u{d}\\u{a}\\u{7f}\\u{9f}"],
    ["\u2028\u2066\u061c\u200f", "\\u{2028}\\u{2066}\\u{61c}\\u{200f}"],
    ["\u00ad\u200b\u2060\ufeff", "\\u{ad}\\u{200b}\\u{2060}\\u{feff}"],
    ["\u{e0041}\u{e0fff}", "\\u{e0041}\\u{e0fff}"],
    ["\ud800x\udc00", "\\u{d800}x\\u{dc00}"],
  ];
  assert.deepEqual(hidden.map(([text]) => visibleText(text)), hidden.map(([, shown]) => shown));
  const plain =
    "Zoë, \u05d0\u05d1\u05d2, \u06cc\u200c\u06a9, \u{1f469}\u200d\u{1f680}, \\u{41} <&>";
  assert.equal(visibleText(plain), plain);
});

Deno.test("visibleText() keeps lines and tabs where that is asked for, and no lone carriage return", () => {
  assert.equal(visibleText("a\r\n\tb\rc\n", { keepsLines: true }), "a\n\tb\\u{d}c\n");
});

Deno.test("shownText() escapes text and keeps its direction to itself", async () => {
  assert.equal(
    String(await shownText(`<b title="x">&'\u202e`)),
    "<bdi>&lt;b title=&quot;x&quot;&gt;&amp;&#39;\\u{202e}</bdi>",
  );
});
