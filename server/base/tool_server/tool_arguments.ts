/** The arguments of one tool call, read one by one with the codes and words of the REST API. */
import { invalidJson } from "../errors.ts";

/** How many unknown arguments a message names: it must not grow with what was sent. */
const NAMED = 5;

export class ToolArguments {
  readonly #given: Readonly<Record<string, unknown>>;

  /**
   * @param given the arguments as they came
   * @param known names of all arguments of the tool
   * @throws RelayError `invalid_json` for any other name, and for text that is no Unicode
   */
  constructor(given: Readonly<Record<string, unknown>>, known: readonly string[]) {
    const unknown = Object.keys(given).filter((name) => !known.includes(name));
    if (unknown.length > 0) {
      const named = unknown.slice(0, NAMED).map((name) => JSON.stringify(name.slice(0, 64)));
      throw invalidJson(`there is no argument ${named.join(", ")}; known are: ${known.join(", ")}`);
    }
    for (const [name, value] of Object.entries(given)) requireWellFormed(name, value);
    this.#given = given;
  }

  /** The argument as it came, undefined where absent; null stays null. */
  raw(name: string): unknown {
    return this.#given[name];
  }

  /** @throws RelayError `invalid_json` */
  string(name: string, what: string): string {
    const value = this.optionalString(name, what);
    if (value === undefined) throw invalidJson(`${name} is required: ${what}`);
    return value;
  }

  /** A string, undefined where absent or null. @throws RelayError `invalid_json` */
  optionalString(name: string, what: string): string | undefined {
    const value = this.#given[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw invalidJson(`${name} must be a string: ${what}`);
    return value;
  }

  /**
   * A string, undefined where absent, null or empty: some clients send every argument that a tool
   * has. @throws RelayError `invalid_json`
   */
  filledString(name: string, what: string): string | undefined {
    return this.optionalString(name, what) || undefined;
  }

  /** One of some words; absent, null and empty mean the first. @throws RelayError `invalid_json` */
  choice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
    const given = this.filledString(name, choices.join(" or ")) ?? choices[0];
    const found = choices.find((one) => one === given);
    if (found === undefined) throw invalidJson(`${name} must be ${choices.join(" or ")}`);
    return found;
  }

  /** An integer clamped into min..max. @throws RelayError `invalid_json` */
  integer(name: string, min: number, max: number, absent: number): number {
    return this.optionalInteger(name, min, max) ?? absent;
  }

  /** As integer, undefined where absent or null. */
  optionalInteger(name: string, min: number, max: number): number | undefined {
    const value = this.#given[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isInteger(value)) {
      throw invalidJson(`${name} must be an integer from ${min} to ${max}`);
    }
    return Math.min(max, Math.max(min, value));
  }

  /** @throws RelayError `invalid_json` */
  flag(name: string): boolean {
    return this.optionalFlag(name) ?? false;
  }

  /** As flag, undefined where absent or null. */
  optionalFlag(name: string): boolean | undefined {
    const value = this.#given[name] ?? undefined;
    if (value !== undefined && typeof value !== "boolean") {
      throw invalidJson(`${name} must be true or false`);
    }
    return value;
  }

  /** @throws RelayError `invalid_json` */
  optionalStrings(name: string, what: string): string[] | undefined {
    const value = this.#given[name] ?? undefined;
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    throw invalidJson(`${name} must be an array of strings: ${what}`);
  }
}

function requireWellFormed(name: string, value: unknown): void {
  for (const text of Array.isArray(value) ? value : [value]) {
    if (typeof text === "string" && !text.isWellFormed()) {
      throw invalidJson(`${name} must be Unicode text: it holds half of a surrogate pair`);
    }
  }
}
