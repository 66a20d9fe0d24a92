import { strictEqual as equal } from "node:assert/strict";
import { printable } from "./printable.ts";

Deno.test("printable() escapes what moves the cursor or turns the direction", () => {
  equal(printable("a\u001b[31m\u0007\r\n\t"), "a\\u{1b}[31m\\u{7}\\u{d}\\u{a}\\u{9}");
  equal(
    printable("\u0085\u009b\u200f\u202e\u2066\u2028\ufeff"),
    [
      "\\u{85}\\u{9b}\\u{200f}\\u{202e}\\u{2066}\\u{2028}\\u{feff}",
    ].join(),
  );
  equal(printable("\ud800 \u{e0041}"), "\\u{d800} \\u{e0041}");
});

Deno.test("printable() leaves letters of any script alone", () => {
  equal(printable("héllo € 😀 שלום 日本"), "héllo € 😀 שלום 日本");
});
