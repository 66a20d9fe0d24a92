/** Query strings, read from their raw text by a declared set of parameters. */
import { invalidJson } from "../../errors.ts";

/** How one parameter is read. */
export interface Parameter<T> {
  /** Value when the parameter is absent. */
  absent: T;
  /** @throws RelayError invalid_json naming the parameter */
  read(text: string, name: string): T;
}

type Parameters = Readonly<Record<string, Parameter<unknown>>>;
type Values<P extends Parameters> = { [K in keyof P]: P[K] extends Parameter<infer T> ? T : never };

/**
 * An integer, clamped into min..max.
 * @param absent value when the parameter is missing, as it stands
 */
export function integer<T extends number | undefined>(
  min: number,
  max: number,
  absent: T,
): Parameter<number | T> {
  return {
    absent,
    read(text, name) {
      if (!/^-?[0-9]{1,20}$/.test(text)) {
        throw invalidJson(
          `query parameter ${name} must be an integer of at most 20 digits, from ${min} to ${max}`,
        );
      }
      // 20 digits do not fit a double exactly, but every inexact one lies beyond every bound.
      return Math.min(max, Math.max(min, Number(text)));
    },
  };
}

/** `true` or `false`; false when absent. */
export function flag(): Parameter<boolean> {
  return {
    absent: false,
    read(text, name) {
      if (text !== "true" && text !== "false") {
        throw invalidJson(`query parameter ${name} must be true or false`);
      }
      return text === "true";
    },
  };
}

/** Any text, decoded, as it is; undefined when absent. */
export function text(): Parameter<string | undefined> {
  return { absent: undefined, read: (value) => value };
}

/** One of the given words; `absent` when missing. */
export function choice<W extends string, T extends W | undefined>(
  words: readonly W[],
  absent: T,
): Parameter<W | T> {
  return {
    absent,
    read(value, name) {
      if (!(words as readonly string[]).includes(value)) {
        throw invalidJson(`query parameter ${name} must be one of ${words.join(", ")}`);
      }
      return value as W;
    },
  };
}

/**
 * Values of the declared parameters; others are ignored.
 * @param rawQuery the query as it stands in the request, without `?`, percent-encoded, `+` for a space
 * @param what they are, as errors call them
 * @throws RelayError invalid_json naming the parameter: repeated, badly encoded or badly formed
 */
export function readQuery<P extends Parameters>(
  rawQuery: string,
  parameters: P,
  what = "query parameter",
): Values<P> {
  const values: Record<string, unknown> = {};
  for (const name in parameters) values[name] = parameters[name]!.absent;
  if (rawQuery === "") return values as Values<P>;
  const seen: string[] = []; // few names: cheaper than a Set on every poll
  for (const pair of rawQuery.split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name === undefined || !Object.hasOwn(parameters, name)) continue;
    if (seen.includes(name)) throw invalidJson(`${what} ${name} is given more than once`);
    seen.push(name);
    const value = decode(equals < 0 ? "" : pair.slice(equals + 1));
    if (value === undefined) {
      throw invalidJson(`${what} ${name} must be percent-encoded UTF-8`);
    }
    values[name] = parameters[name]!.read(value, name);
  }
  return values as Values<P>;
}

function decode(encoded: string): string | undefined {
  if (!/[%+]/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded.includes("+") ? encoded.replaceAll("+", " ") : encoded);
  } catch {
    return undefined;
  }
}
