import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { parseAddresses } from "./addresses.ts";
import type { ParseWarning } from "../parsed/parsed_mail.ts";

function read(text: string, max = 10) {
  return parseAddresses(text, max, new Set()).addresses.map(({ name, address }) => [name, address]);
}

Deno.test("parseAddresses() reads names in quotes, in encoded words, in comments and without any", () => {
  assert.deepEqual(
    read('"B, \\"b\\"" <b@b.example>, =?utf-8?Q?=C3=84?= =?utf-8?Q?_b?= <c@c.example>'),
    [
      ['B, "b"', "b@b.example"],
      ["Ä b", "c@c.example"],
    ],
  );
  assert.deepEqual(read("d@d.example (D (d)), <e@e.example>, F\tf <f@F.Example>"), [
    ["D (d)", "d@d.example"],
    [null, "e@e.example"],
    ["F f", "f@f.example"],
  ]);
});

Deno.test("parseAddresses() dissolves groups, also those without members", () => {
  assert.deepEqual(read("nobody:; A: a@a.example, B <b@b.example>; c@c.example"), [
    [null, "a@a.example"],
    ["B", "b@b.example"],
    [null, "c@c.example"],
  ]);
});

Deno.test("parseAddresses() takes mailboxes apart that no comma divides", () => {
  assert.deepEqual(read('"A" <a@a.example> "B" <b@b.example> (c) , C <c@c.example> behind'), [
    ["A", "a@a.example"],
    ["B", "b@b.example"],
    ["C behind", "c@c.example"],
  ]);
  assert.deepEqual(read("a@a.example  b@b.example, c@c.example <d@d.example>"), [
    [null, "a@a.example"],
    [null, "b@b.example"],
    ["c@c.example", "d@d.example"],
  ]);
});

Deno.test("parseAddresses() leaves out what is no address", () => {
  const none = [
    "",
    "a",
    "@b.example",
    "a@",
    "a b@c.example",
    "a@b@c.example",
    "a@-.",
    "a@b c.example",
    "<>",
    `${"a".repeat(65)}@b.example`,
    `a@${"b.".repeat(140)}c`,
  ];
  assert.deepEqual(read(none.join(", ")), []);
  assert.deepEqual(read('"a b"@c.example, a@[IPv6:::1], \u00e4@b.example'), [
    [null, '"a b"@c.example'],
    [null, "a@[ipv6:::1]"],
    [null, "\u00e4@b.example"],
  ]);
});

Deno.test("parseAddresses() reads no more than it is asked for, and says whether there are more", () => {
  const text = "a@a.example, b@b.example, c";
  const list = (max: number) => parseAddresses(text, max, new Set());
  assert.deepEqual([list(1).addresses.length, list(1).isCut], [1, true]);
  assert.deepEqual([list(2).addresses.length, list(2).isCut], [2, false]);
});

Deno.test("parseAddresses() tells of unknown charsets in names, and cuts names", () => {
  const warnings = new Set<ParseWarning>();
  const { addresses } = parseAddresses(
    `=?x-no?Q?=E9?= <a@a.example>, ${"n".repeat(500)} <b@b.example>`,
    5,
    warnings,
  );
  assert.deepEqual([addresses[0]?.name, addresses[1]?.name?.length], ["\u00e9", 200]);
  assert.deepEqual([...warnings], ["unknown_charset"]);
});

Deno.test("parseAddresses() reads again what it gave, in its own words", () => {
  const word = fc.string({
    minLength: 1,
    maxLength: 12,
    unit: fc.constantFrom(...'abz09 ,;:<>()@.[]\\"\u00e4'),
  });
  fc.assert(fc.property(fc.array(word, { maxLength: 5 }), (names) => {
    const quoted = names.map((name, i) =>
      `"${name.replaceAll(/["\\]/g, "\\$&")}" <a${i}@b.example>`
    );
    const expected = names.map((
      name,
      i,
    ) => [name.replaceAll(/\s+/g, " ").trim() || null, `a${i}@b.example`]);
    assert.deepEqual(read(quoted.join(", ")), expected);
  }));
});
