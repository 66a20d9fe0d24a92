import assert from "node:assert/strict";
import fc from "fast-check";
import "../../tests/support/seeded_fast_check.ts";
import { PackedTexts } from "./packed_texts.ts";

Deno.test("PackedTexts gives each text once, the last that was set under its name", () => {
  const names = fc.constantFrom("a", "b", "c d", "name/1", "name/11", "in/123456");
  const step = fc.oneof(
    fc.record({ set: fc.string({ unit: "binary-ascii", maxLength: 40 }), name: names }),
    fc.record({ take: fc.constant(true), name: names }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), fc.integer(), (steps, seed) => {
    const texts = new PackedTexts(0, seed);
    const expected = new Map<string, string>();
    for (const one of steps) {
      if ("set" in one) {
        texts.set(one.name, one.set);
        expected.set(one.name, one.set);
      } else {
        assert.equal(texts.take(one.name), expected.get(one.name));
        expected.delete(one.name);
      }
      assert.equal(texts.size, expected.size);
    }
  }));
});

Deno.test("PackedTexts keeps within its room, and what came last", () => {
  const texts = new PackedTexts(4 * 2 ** 20);
  const text = (i: number) => `${"x".repeat(i % 90)}${i}`;
  for (let i = 0; i < 300_000; i++) {
    texts.set(`name/${i}`, text(i));
    if (i % 3 === 0) assert.equal(texts.take(`name/${i}`), text(i));
  }
  assert.ok(texts.sizeBytes <= 4 * 2 ** 20 + 2 ** 21, `${texts.sizeBytes} bytes`);
  let found = 0;
  let oldest = 0;
  const held = texts.size;
  for (let i = 299_999; i >= 0; i--) {
    if (i % 3 === 0) continue;
    const taken = texts.take(`name/${i}`);
    if (taken === undefined) oldest ||= i;
    else {
      assert.equal(taken, text(i));
      assert.equal(oldest, 0, "what came later is there");
      found++;
    }
  }
  assert.equal(found, held);
  assert.ok(found > 30_000, `${found} texts`);
  assert.equal(texts.size, 0);
});

Deno.test("PackedTexts does not keep what is too long or not ASCII, nor what stood there before", () => {
  const texts = new PackedTexts(0);
  for (const unfit of ["x".repeat(3_000), "ü", "x\u{1F600}", "\u0080"]) {
    texts.set("a", "short");
    texts.set("a", unfit);
    assert.equal(texts.take("a"), undefined);
    texts.set(unfit, "a");
    assert.equal(texts.take(unfit), undefined);
  }
  texts.set("b", "kept");
  assert.equal(texts.take("b"), "kept");
  texts.set("a", "x".repeat(2_000));
  assert.equal(texts.take("a")?.length, 2_000);
  assert.equal(texts.size, 0);
});
