import { strictEqual as equal, throws } from "node:assert/strict";
import { isWordNameOf } from "./is_word_name_of.ts";
import { wordName } from "./word_name.ts";
import fc from "../tests/support/seeded_fast_check.ts";

const publicKey = fc.uint8Array({ minLength: 32, maxLength: 32 });

Deno.test("wordName() is one of the names that isWordNameOf() knows, in any case", () => {
  fc.assert(fc.property(publicKey, fc.integer({ min: 1, max: 60 }), (key, adjectives) => {
    const name = wordName(key, adjectives);
    equal(name.split("-").length, adjectives + 2);
    equal(isWordNameOf(name, key), true);
    equal(isWordNameOf(name.toUpperCase(), key), true);
    equal(wordName(key, adjectives + 1).startsWith(`${name}-`), true);
  }));
});

Deno.test("isWordNameOf() knows a name of one key from that of another", () => {
  fc.assert(fc.property(publicKey, publicKey, (one, other) => {
    fc.pre(wordName(one) !== wordName(other));
    equal(isWordNameOf(wordName(one), other), false);
  }));
});

Deno.test("isWordNameOf() refuses any altered character", () => {
  const key = new Uint8Array(32).fill(9);
  const name = wordName(key, 2);
  for (let i = 0; i < name.length; i++) {
    for (const letter of ["", "-", "z", "ſ", " "]) {
      const altered = name.slice(0, i) + letter + name.slice(i + 1);
      if (altered !== name) equal(isWordNameOf(altered, key), false, altered);
    }
  }
});

Deno.test("wordName() takes 32 bytes and at least one adjective", () => {
  throws(() => wordName(new Uint8Array(31)), TypeError);
  throws(() => isWordNameOf("a-b-c", new Uint8Array(33)), TypeError);
  for (const count of [0, -1, 1.5, NaN, Infinity]) {
    throws(() => wordName(new Uint8Array(32), count), RangeError);
  }
});
