import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { canonicalJson } from "./canonical_json.ts";
import { contentHash } from "./content_hash.ts";
import type { JsonValue } from "./json_value.ts";
import fc from "../tests/support/seeded_fast_check.ts";

/** Any JSON value whose strings are well-formed, -0 included. */
const jsonValue = fc.jsonValue({ stringUnit: "binary" }) as fc.Arbitrary<JsonValue>;

function withoutMinusZero(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

/** The same value with the members of every object in another order. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).reverse().map(([name, member]) => [name, reversed(member)]);
  return Object.fromEntries(members);
}

Deno.test("canonicalJson() reads back as the same value", () => {
  fc.assert(fc.property(jsonValue, (value) => {
    deepEqual(JSON.parse(canonicalJson(value)), withoutMinusZero(value));
  }));
});

Deno.test("canonicalJson() does not depend on the order of members, nor on being read back", () => {
  fc.assert(fc.property(jsonValue, (value) => {
    const text = canonicalJson(value);
    equal(canonicalJson(reversed(value)), text);
    equal(canonicalJson(JSON.parse(text)), text);
    equal(contentHash(reversed(value)), contentHash(value));
  }));
});

Deno.test("canonicalJson() tells different values apart", () => {
  fc.assert(fc.property(jsonValue, jsonValue, (a, b) => {
    const same = canonicalJson(a) === canonicalJson(b);
    let equalValues = true;
    try {
      deepEqual(withoutMinusZero(a), withoutMinusZero(b));
    } catch {
      equalValues = false;
    }
    equal(same, equalValues);
  }));
});

Deno.test("canonicalJson() prints every finite double so that it reads back", () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
    equal(Number(canonicalJson(number)), number === 0 ? 0 : number);
  }));
});

Deno.test("canonicalJson() keeps __proto__ as a member and leaves undefined members out", () => {
  const value = JSON.parse('{"b":1,"__proto__":2}');
  value.gone = undefined;
  equal(canonicalJson(value), '{"__proto__":2,"b":1}');
});

Deno.test("canonicalJson() refuses what has no JSON form", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const value of [undefined, () => 1, Symbol("s"), 10n, [10n], NaN, [Infinity], circle]) {
    throws(() => canonicalJson(value as JsonValue), { name: "JsonError", code: "not_json" });
  }
});

Deno.test("canonicalJson() refuses lone surrogates in strings and names", () => {
  const values: JsonValue[] = ["\ud800", ["a\udc00"], { "\ud800": 1 }, { a: { "b\udfff": 1 } }];
  for (const value of values) {
    throws(() => canonicalJson(value), { name: "JsonError", code: "lone_surrogate" });
  }
});

Deno.test("canonicalJson() walks values of any depth", () => {
  let deep: JsonValue = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  equal(canonicalJson(deep).length, 200_001);
});
