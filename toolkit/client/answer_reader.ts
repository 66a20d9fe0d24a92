import { JsonError } from "../json_error.ts";
import type { JsonObject, JsonValue } from "../json_value.ts";
import { MAX_LIST_DEPTH } from "../listed_messages.ts";
import { parseStrict } from "../parse_strict.ts";
import { AnswerError } from "./answer_error.ts";
import type { HttpAnswer } from "./attempt.ts";

/**
 * The JSON of an answer, read as strictly as the relay reads requests.
 *
 * @throws {AnswerError} `malformed_answer`
 */
export function parseAnswer({ bytes, status }: HttpAnswer): JsonValue {
  try {
    return parseStrict(bytes, { maxDepth: MAX_LIST_DEPTH });
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    throw malformed(`is no strict JSON: ${thrown.message}`, status);
  }
}

/** An answer that is not what the contract says. */
export function malformed(what: string, status = 200): AnswerError {
  return new AnswerError("malformed_answer", status, `the relay's answer ${what}`);
}

/** Reads the members of one object of an answer, each by its type. */
export interface AnswerReader {
  string(name: string): string;
  /** A safe integer. */
  integer(name: string): number;
  boolean(name: string): boolean;
  strings(name: string): string[];
  list(name: string): JsonValue[];
  oneOf<const T extends string>(name: string, values: readonly T[]): T;
  /** Any value that is there. */
  value(name: string): JsonValue;
  /** What `read` reads, or null where the member is null. */
  orNull<T>(name: string, read: (name: string) => T): T | null;
  /** What `read` reads, or undefined where there is no such member. */
  optional<T>(name: string, read: (name: string) => T): T | undefined;
}

/**
 * Reads an object of an answer.
 *
 * @param value parsed JSON
 * @throws {AnswerError} `malformed_answer`, naming the member, here and in each of its functions
 */
export function answerReader(value: JsonValue): AnswerReader {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed("must be a JSON object");
  }
  const object: JsonObject = value;

  function member(name: string): JsonValue {
    if (Object.hasOwn(object, name)) return object[name]!;
    throw malformed(`has no ${name}`);
  }
  function read<T>(name: string, form: string, isOfForm: (value: JsonValue) => boolean): T {
    const found = member(name);
    if (isOfForm(found)) return found as T;
    throw malformed(`has a wrong ${name}: it must be ${form}`);
  }
  const isStrings = (list: JsonValue) =>
    Array.isArray(list) && list.every((one) => typeof one === "string");

  return {
    string: (name) => read(name, "a string", (one) => typeof one === "string"),
    integer: (name) => read(name, "an integer", Number.isSafeInteger),
    boolean: (name) => read(name, "true or false", (one) => typeof one === "boolean"),
    strings: (name) => read(name, "a list of strings", isStrings),
    list: (name) => read(name, "a list", Array.isArray),
    oneOf: (name, values) =>
      read(name, values.join(" or "), (one) => (values as readonly JsonValue[]).includes(one)),
    value: member,
    orNull: (name, reader) => member(name) === null ? null : reader(name),
    optional: (name, reader) => Object.hasOwn(object, name) ? reader(name) : undefined,
  };
}
