import assert from "node:assert/strict";
import { decodeWords } from "./encoded_words.ts";

const decode = (text: string) => decodeWords(text).text;

Deno.test("decodeWords() decodes both encodings, in any charset that is known", () => {
  assert.equal(decode("a =?utf-8?Q?=C3=A4_=3f?= b"), "a ä ? b");
  assert.equal(decode("=?UTF-8*de?b?w6Q?="), "ä");
  assert.equal(decode("=?shift_jis?B?k/o=?= =?koi8-r?Q?=F0?="), "日П");
});

Deno.test("decodeWords() drops white space between words alone, and joins characters split between them", () => {
  assert.equal(decode("=?utf-8?Q?=E2=82?=  \t=?UTF-8?b?rA==?= x =?utf-8?Q?y?="), "€ x y");
  assert.equal(decode("=?utf-8?Q?a?= - =?utf-8?Q?b?="), "a - b");
});

Deno.test("decodeWords() leaves alone what is no encoded word", () => {
  for (const text of ["", "=?", "=?utf-8?Q?a", "=?utf-8?X?a?=", "=??Q?a?=", "=?utf 8?Q?a?="]) {
    assert.deepEqual(decodeWords(text), { text, isKnown: true });
  }
});

Deno.test("decodeWords() reads unknown charsets as windows-1252, and not any number of them", () => {
  assert.deepEqual(decodeWords("=?x-no?Q?=80?="), { text: "€", isKnown: false });
  const many = Array.from({ length: 20 }, (_, i) => `=?x${i}?Q?a?=`);
  const { text, isKnown } = decodeWords(many.join(" "));
  assert.deepEqual([text, isKnown], [`${"a".repeat(16)} ${many.slice(16).join(" ")}`, false]);
});

Deno.test("decodeWords() reads raw bytes inside a word in the word's own charset", () => {
  // As fieldValue() gives them: of no UTF-8, windows-1252.
  const raw = (...octets: number[]) =>
    new TextDecoder("windows-1252").decode(Uint8Array.from(octets));
  const cases: [string, string][] = [
    [`=?iso-8859-1?Q?Gr${raw(0xfc, 0xdf)}e?=`, "Gr\u00fc\u00dfe"],
    [`=?ISO-8859-1?Q?caf=E9_${raw(0xe9)}?=`, "caf\u00e9 \u00e9"],
    [`=?windows-1252?q?${raw(0x80)}5?=`, "\u20ac5"],
    [`=?koi8-r?Q?${raw(0xd0, 0xd2)}?=`, "\u043f\u0440"],
    [`=?utf-8?Q?Gr${raw(0xfc)}n?=`, "Gr\u00fcn"],
    // The field is UTF-8, whatever the word says.
    ["=?iso-8859-1?Q?Gr\u00fcn?=", "Gr\u00fcn"],
    ["=?iso-8859-1?Q?\u65e5=E9?=", "\u65e5\ufffd"],
  ];
  assert.equal(cases.length, 7);
  for (const [text, expected] of cases) assert.equal(decodeWords(text).text, expected, text);
});
