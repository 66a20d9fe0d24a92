import { describePosition, type JsonPosition } from "./json_position.ts";

/**
 * Why a text is not JSON that every language reads and hashes alike (I-JSON, RFC 7493), or why a
 * value has no canonical form:
 *
 * - `invalid_utf8`: the bytes are not UTF-8
 * - `byte_order_mark`: the text begins with U+FEFF
 * - `syntax`: outside the grammar of RFC 8259
 * - `duplicate_name`: an object has a member name twice
 * - `lone_surrogate`: half of a surrogate pair stands alone
 * - `number_overflow`: a number too large for a double
 * - `unsafe_integer`: a whole number v with 2^53 <= |v| < 1e21
 * - `too_deep`: more nested containers than allowed
 * - `not_json`: a value that JSON cannot express (canonicalJson only)
 */
export type JsonErrorCode =
  | "invalid_utf8"
  | "byte_order_mark"
  | "syntax"
  | "duplicate_name"
  | "lone_surrogate"
  | "number_overflow"
  | "unsafe_integer"
  | "too_deep"
  | "not_json";

/**
 * Thrown for a text that is not strict JSON or a value that has no canonical form.
 *
 * The message says what was found, what is allowed and where. It never quotes the text, so it can
 * be logged although texts may be private.
 */
export class JsonError extends Error {
  override readonly name = "JsonError";
  readonly code: JsonErrorCode;
  /** Where the error stands; undefined for a value, which has no text. */
  readonly position: JsonPosition | undefined;
  readonly #reason: string;

  constructor(code: JsonErrorCode, reason: string, position?: JsonPosition) {
    super(position === undefined ? reason : `${reason} (${describePosition(position)})`);
    this.code = code;
    this.position = position;
    this.#reason = reason;
  }

  /** The same error, its message beginning with what the text is. */
  within(where: string): JsonError {
    return new JsonError(this.code, `${where}: ${this.#reason}`, this.position);
  }
}
