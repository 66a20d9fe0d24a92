import { InputError } from "./input_error.ts";

/**
 * A whole number given to an option.
 *
 * @throws {InputError} for anything else, and outside min and max
 */
export function parseNumber(
  option: string,
  text: string | undefined,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  throw new InputError(`${option} takes a whole number ${range}, not '${text}'`, "usage");
}
