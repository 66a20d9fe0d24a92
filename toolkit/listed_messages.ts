import type { JsonValue } from "./json_value.ts";
import { MAX_JSON_DEPTH } from "./parse_strict.ts";

/** The depth of the deepest body inside a message, an array and `{"messages":...}`. */
export const MAX_LIST_DEPTH = MAX_JSON_DEPTH + 3;

/**
 * The messages of an array or of an inbox's whole answer `{"messages":[...]}`.
 *
 * @returns undefined for a value that stands for itself: one message, or none
 */
export function listedMessages(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null || Object.hasOwn(value, "from")) return undefined;
  const messages = Object.hasOwn(value, "messages") ? value.messages : undefined;
  return Array.isArray(messages) ? messages : undefined;
}
