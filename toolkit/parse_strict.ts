import { JsonError } from "./json_error.ts";
import { jsonPosition } from "./json_position.ts";
import type { JsonValue } from "./json_value.ts";
import { scanJson } from "./scan_json.ts";

/** How deep arrays and objects may nest in what the relay accepts. */
export const MAX_JSON_DEPTH = 64;

/** What {@linkcode parseStrict} may be told. */
export interface ParseStrictOptions {
  /**
   * Where nesting is counted from. `root` counts the outermost array or object as the first.
   * `members` begins inside it, for a request, whose own braces do not count. Default `root`.
   */
  readonly depthFrom?: "root" | "members";
  /** The most nested arrays and objects allowed from there, default 64. */
  readonly maxDepth?: number;
  /** What the text is, put before the message of an error, for instance `inside body`. */
  readonly where?: string;
}

/**
 * Parses JSON that every language reads and hashes alike, and refuses all other.
 *
 * Members named `__proto__` become own properties; `-0` and underflow are allowed.
 *
 * @param text UTF-8 bytes, or a string
 * @param options where depth is counted from, how deep, what to call the text in errors
 * @returns the value
 * @throws {JsonError} `invalid_utf8`, `byte_order_mark`, `syntax`, `duplicate_name`,
 * `lone_surrogate`, `number_overflow`, `unsafe_integer` (whole numbers, 2^53 <= |v| < 1e21) or
 * `too_deep`, with the position
 * @see RFC 8259 (grammar), RFC 7493 section 2 (I-JSON)
 *
 * @example
 * ```ts
 * import { parseStrict } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseStrict('{"text":"hello"}'), { text: "hello" });
 * assert.throws(() => parseStrict('{"a":1,"a":2}'), { code: "duplicate_name" });
 * ```
 */
export function parseStrict(
  text: Uint8Array | string,
  options: ParseStrictOptions = {},
): JsonValue {
  const { depthFrom = "root", maxDepth = MAX_JSON_DEPTH, where } = options;
  try {
    const string = typeof text === "string" ? wellFormed(text) : decodeUtf8(text);
    if (string.charCodeAt(0) === 0xfeff) {
      const reason = "the text begins with a byte order mark, which is not allowed";
      throw new JsonError("byte_order_mark", reason, jsonPosition(string, 0));
    }
    scanJson(string, maxDepth, depthFrom === "members");
    // The scan has refused everything on which JSON.parse is lenient, and JSON.parse defines
    // members instead of assigning them, so `__proto__` is data here.
    return JSON.parse(string);
  } catch (thrown) {
    throw thrown instanceof JsonError && where !== undefined ? thrown.within(where) : thrown;
  }
}

/** The string itself, which must not hold half a surrogate pair: it has no UTF-8 form. */
function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  const index = text.search(/\p{Surrogate}/u);
  const reason = "half of a surrogate pair stands alone, which has no UTF-8 form";
  throw new JsonError("lone_surrogate", reason, jsonPosition(text, index));
}

/** The text that the bytes spell, a byte order mark included. */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8().decode(bytes);
  } catch {
    const valid = validPrefix(bytes);
    const reason = "the text is not UTF-8 here";
    throw new JsonError("invalid_utf8", reason, jsonPosition(valid, valid.length));
  }
}

/**
 * The text before the first invalid sequence. TextDecoder does not tell where that is, but whether
 * a prefix holds it is monotone, so that it can be halved in.
 */
function validPrefix(bytes: Uint8Array): string {
  let good = "";
  let low = 0;
  let high = bytes.length;
  while (low <= high) {
    const middle = (low + high) >> 1;
    try {
      good = utf8().decode(bytes.subarray(0, middle), { stream: true });
      low = middle + 1;
    } catch {
      high = middle - 1;
    }
  }
  return good;
}

function utf8(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}
