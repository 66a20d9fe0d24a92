import assert from "node:assert/strict";
import { addressField, fold, idField, textField } from "./header_field.ts";

/** Lines of a field, each within what RFC 5322 allows. */
function linesOf(field: string): string[] {
  const lines = field.split("\r\n");
  assert(lines.every((line) => line.length <= 998 && /^[\x20-\x7e]*$/.test(line)));
  assert(lines.slice(1).every((line) => /^ [\x21-\x7e]/.test(line)));
  return lines;
}

Deno.test("textField() leaves plain words as they are, and folds them", () => {
  assert.equal(textField("Subject", "Hello, World"), "Subject: Hello, World");
  assert.equal(textField("X-Empty", ""), "X-Empty:");
  const words = Array(40).fill("word").join(" ");
  const lines = linesOf(textField("Subject", words));
  assert.equal(lines.length, 3);
  assert(lines.every((line) => line.length <= 76));
  assert.equal(lines.join(""), `Subject: ${words}`);
});

Deno.test("textField() encodes what would not arrive as it is", () => {
  const cases = [
    "a".repeat(998),
    `${"word ".repeat(10)}${"a".repeat(900)}`,
    `a${" ".repeat(996)}b`,
    "a  b",
    "=?utf-8?Q?x?=",
    "see =?utf-8?Q?a b?= here",
    "ä",
    "日".repeat(998),
    "\u00a0",
  ];
  for (const value of cases) {
    const lines = linesOf(textField("Subject", value));
    const words = lines.join("").slice("Subject:".length).trim().split(" ");
    assert(words.length > 0 && words.every((word) => /^=\?UTF-8\?[QB]\?[^? ]+\?=$/.test(word)));
    assert(words.every((word) => word.length <= 75));
    assert(lines.every((line) => line.length <= 76));
  }
});

Deno.test("textField() refuses what is no name or no line by throwing", () => {
  assert.throws(() => textField("Sub ject", "a"), TypeError);
  assert.throws(() => textField("Subject:\r\nBcc", "a"), TypeError);
  assert.throws(() => fold("Subject", ["a\r\nBcc:"]), TypeError);
  assert.throws(() => fold("Subject", ["ä"]), TypeError);
  assert.throws(() => fold("Subject", [""]), TypeError);
});

Deno.test("addressField() writes names as atoms, quoted or encoded", () => {
  const at = (name: string | null) => addressField("To", [{ name, address: "a@example.org" }]);
  assert.equal(at(null), "To: a@example.org");
  assert.equal(at(""), "To: a@example.org");
  assert.equal(at("Ann Example"), "To: Ann Example <a@example.org>");
  assert.equal(at("Example, Ann"), 'To: "Example, Ann" <a@example.org>');
  assert.equal(at('a"b\\c'), 'To: "a\\"b\\\\c" <a@example.org>');
  assert.equal(at("Jürgen"), "To: =?UTF-8?Q?J=C3=BCrgen?= <a@example.org>");
  assert.equal(
    at("=?utf-8?Q?=0D=0A?="),
    "To: =?UTF-8?Q?=3D=3Futf-8=3FQ=3F=3D0D=3D0A=3F=3D?= <a@example.org>",
  );
  assert.match(at("a  b"), /^To: =\?UTF-8\?Q\?a__b\?= <a@example\.org>$/);
});

Deno.test("addressField() folds between addresses", () => {
  const addresses = Array.from({ length: 50 }, (_, n) => ({
    name: `Person, Number ${n}`,
    address: `person${n}@${"long.".repeat(30)}example.org`,
  }));
  const lines = linesOf(addressField("Cc", addresses));
  assert(lines.length >= 50);
  assert.equal(lines.join("").match(/>,? ?/g)?.length, 50);
});

Deno.test("addressField() refuses what is no addr-spec by throwing", () => {
  for (
    const address of [
      "a",
      "a@b\r\nBcc: c@d",
      "a@b, c@d",
      "a@b>",
      '"a b"@c',
      "a@b c",
      "ä@b",
      "a(b)@c",
    ]
  ) {
    assert.throws(() => addressField("To", [{ name: null, address }]), TypeError);
  }
});

Deno.test("idField() puts ids in brackets, one after the other", () => {
  const ids = Array.from({ length: 50 }, (_, n) => `${n}${"x".repeat(240)}@e.org`);
  const lines = linesOf(idField("References", ids));
  assert.equal(lines.length, 50);
  assert.equal(lines[1], ` <${ids[1]}>`);
  for (const id of ["", "a b", "a>", "a\r\nBcc: b", "x".repeat(251), "ä"]) {
    assert.throws(() => idField("References", [id]), TypeError);
  }
});
