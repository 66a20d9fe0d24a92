import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { PackedTexts } from "./packed_texts.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("PackedTexts gives what was last set, whatever was replaced and emptied, and finds what it holds", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "É", "🦊", "\n"), maxLength: 3 });
  const change = fc.tuple(fc.nat(11), fc.oneof(text, text.map((one) => one.repeat(300))));
  fc.assert(fc.property(fc.array(change, { maxLength: 200 }), text, (changes, sought) => {
    const packed = new PackedTexts(12);
    const known = new Array<string>(12).fill("");
    for (const [at, one] of changes) {
      packed.set(at, one);
      known[at] = one;
    }
    for (const [at, one] of known.entries()) {
      assert.equal(packed.get(at), one);
      assert.equal(packed.holds(at, bytes(sought)), one.includes(sought));
    }
  }));
});
