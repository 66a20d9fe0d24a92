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
