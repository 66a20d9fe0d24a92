import { parseArgs, type ParseArgsConfig } from "node:util";
import { InputError } from "./input_error.ts";

/**
 * Reads a verb's options and positional arguments.
 *
 * @param args the arguments after the verb
 * @param options the options it knows, as node:util parseArgs takes them
 * @param maxPositionals how many other arguments it takes
 * @throws {InputError} for an unknown option, a missing value, too many arguments
 */
export function parseOptions<T extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: T,
  maxPositionals: number,
) {
  const parsed = readArguments(args, options);
  const extra = parsed.positionals[maxPositionals];
  if (extra !== undefined) throw new InputError(`unexpected argument '${extra}'`, "usage");
  return parsed;
}

function readArguments<T extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "wrong options";
    throw new InputError(reason.replaceAll("\n", " "), "usage");
  }
}
