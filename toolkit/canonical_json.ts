import canonicalize from "canonicalize";
import { JsonError } from "./json_error.ts";
import type { JsonValue } from "./json_value.ts";

/**
 * Writes a value as canonical JSON: members sorted by UTF-16 code unit, no insignificant space,
 * numbers and strings as ECMAScript prints them. Two values have the same text exactly when they
 * are the same JSON, so its UTF-8 bytes can be hashed and signed.
 *
 * Every finite double is accepted (`-0` becomes `0`); the narrower rules for numbers belong to
 * {@linkcode parseStrict}. Object members that are undefined are left out.
 *
 * @param value any JSON value
 * @returns the canonical text
 * @throws {JsonError} `lone_surrogate` for a string that has no UTF-8 form. `not_json` for what
 * JSON cannot express: undefined, a function, a bigint, NaN, an infinity, a circle
 * @see RFC 8785
 *
 * @example
 * ```ts
 * import { canonicalJson } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.equal(canonicalJson({ b: 1.50, a: ["\u20ac"] }), '{"a":["€"],"b":1.5}');
 * ```
 */
export function canonicalJson(value: JsonValue): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "the value is not JSON";
    const code = reason.startsWith("Lone surrogate") ? "lone_surrogate" : "not_json";
    throw new JsonError(code, `the value has no canonical JSON: ${reason}`);
  }
  if (text === undefined) throw new JsonError("not_json", "the value has no JSON form");
  return text;
}
