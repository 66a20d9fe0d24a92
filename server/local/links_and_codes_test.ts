import assert from "node:assert/strict";
import { findCodes, findLinks } from "./links_and_codes.ts";

Deno.test("findLinks() finds what text and HTML lead to, each once, http and https alone", () => {
  const text =
    "See http://a.test/x?b=1&c=2. Or (https://b.test/), <http://c.test/>: javascript:alert(1)";
  const html =
    `<a href="https://d.test/?a=1&amp;b=2">x</a> <a href='http://a.test/x?b=1&#38;c=2'>y</a>
<a href=javascript:alert(1)>z</a> <a href="data:text/html,x">w</a> <a href = https://e.test>v</a>`;
  assert.deepEqual(findLinks(text, html), [
    "http://a.test/x?b=1&c=2",
    "https://b.test/",
    "http://c.test/",
    "https://d.test/?a=1&b=2",
    "https://e.test",
  ]);
});

Deno.test("findLinks() leaves out what is no URL, too long, or reads as another", () => {
  const bidi = "https://a.test/\u202egpj.exe";
  const long = `https://a.test/${"x".repeat(2_000)}`;
  assert.deepEqual(findLinks(`${bidi} ${long} https://[ http://`, ""), []);
  const many = Array.from({ length: 50 }, (_, i) => `https://a.test/${i}`).join(" ");
  assert.equal(findLinks(many, "").length, 20);
});

Deno.test("findCodes() finds codes near a word that announces one", () => {
  assert.deepEqual(findCodes("Your code is 123456."), ["123456"]);
  assert.deepEqual(findCodes("AB12CD is your passcode, 4711 your PIN"), ["AB12CD", "4711"]);
  assert.deepEqual(findCodes(`code ${"-".repeat(70)} 123456`), []);
  assert.deepEqual(findCodes("In 2026 we met 1234567 times"), []);
  assert.deepEqual(findCodes("code 123 12345678901 ABCDEFG http://a.test/123456 a123456"), []);
});

Deno.test("findLinks() and findCodes() take linear time for hostile text", () => {
  for (
    const part of [
      "http://",
      "href",
      "href=",
      "href ",
      "https://a.test/))))",
      "code ",
      "code 123456 ",
      "AAAAAAAAA",
      "1234567A",
    ]
  ) {
    const text = part.repeat(Math.ceil(200_000 / part.length));
    const startMs = performance.now();
    findLinks(text, text);
    findCodes(text);
    assert.ok(performance.now() - startMs < 2_000, part);
  }
});
