import assert from "node:assert/strict";
import fc from "fast-check";
import { propertyRuns } from "../../../../tests/support/property_runs.ts";
import { orderedName, rangeOf } from "./key_order.ts";

const part: fc.Arbitrary<Deno.KvKeyPart> = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "b",
    "a\0",
    "a\0b",
    "\0",
    "é",
    "€",
    "\u{1f600}",
    "\ud800",
    "\udc00a",
    "\xff",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(0, -0, 1, -1, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 5e-324, -5e-324),
  fc.integer(),
  fc.double(),
  fc.uint8Array({ maxLength: 4 }),
  fc.constantFrom(
    new Uint8Array(),
    new Uint8Array([0]),
    new Uint8Array([0, 255]),
    new Uint8Array([255]),
  ),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
  fc.constantFrom(0n, 1n, -1n, 15n, 16n, 255n, 256n, -255n, -256n, 2n ** 64n, -(2n ** 64n)),
  fc.boolean(),
);
const key = fc.array(part, { minLength: 1, maxLength: 3 });

Deno.test("orderedName() has the order and the equality of Deno KV's keys, and is no shorter than they are", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(key, { minLength: 2, maxLength: 30 }), async (keys) => {
      using kv = await Deno.openKv(":memory:");
      const byName = new Map<string, number>();
      for (const [i, one] of keys.entries()) {
        await kv.set(one, i);
        byName.set(orderedName(one), i);
      }
      const rows = await Array.fromAsync(kv.list<number>({ prefix: [] }));
      const names = [...byName.keys()].sort();
      assert.deepEqual(rows.map(({ value }) => value), names.map((name) => byName.get(name)));
      // What the store gives back has the same name.
      for (const { key, value } of rows) assert.equal(byName.get(orderedName(key)), value);
    }),
    propertyRuns(200),
  );
});

Deno.test("rangeOf() has the names of the rows that Deno KV lists, and no others", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(key, { minLength: 2, maxLength: 30 }),
      fc.array(part, { maxLength: 2 }),
      fc.array(part, { maxLength: 2 }),
      fc.array(part, { maxLength: 2 }),
      async (keys, prefix, from, to) => {
        using kv = await Deno.openKv(":memory:");
        const names = new Set<string>();
        for (const one of keys) {
          await kv.set(one, 1);
          names.add(orderedName(one));
        }
        const start = [...prefix, ...from];
        const end = [...prefix, ...to];
        const selectors: Deno.KvListSelector[] = [
          { prefix },
          { prefix, start },
          { prefix, end },
          { start, end },
          { prefix: keys[0]!.slice(0, 1) },
          { start: keys[0]!, end: keys[1]! },
        ];
        for (const selector of selectors) {
          let rows: Deno.KvEntry<unknown>[];
          try {
            rows = await Array.fromAsync(kv.list(selector));
          } catch (error) { // an empty key, or a start behind the end
            assert.ok(error instanceof TypeError);
            continue;
          }
          const { from, to } = rangeOf(selector);
          assert.deepEqual(
            [...names].filter((name) => name >= from && name < to).sort(),
            rows.map(({ key }) => orderedName(key)),
            Deno.inspect(selector),
          );
        }
      },
    ),
    propertyRuns(200),
  );
});

Deno.test("a key that fits Deno KV's 2,048 bytes is told by the length of its name", async () => {
  using kv = await Deno.openKv(":memory:");
  const keys: Deno.KvKey[] = [];
  for (let length = 2_030; length < 2_060; length++) {
    keys.push(["k".repeat(length)], [length, "k".repeat(length - 20), true]);
    keys.push([new Uint8Array(length)], [new Uint8Array(length >> 1)], ["€".repeat(length / 3)]);
  }
  assert.equal(keys.length, 150);
  for (const key of keys) {
    const isTaken = await kv.set(key, 1).then(() => true, () => false);
    assert.equal(orderedName(key).length <= 2_048, isTaken);
  }
});

Deno.test("orderedName() refuses parts that no key has", () => {
  for (const part of [undefined, null, Symbol("a"), {}, []]) {
    assert.throws(() => orderedName(["a", part] as unknown as Deno.KvKey), TypeError);
  }
});
