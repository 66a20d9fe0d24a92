/** What every reader of settings shares; it imports nothing, so that the permissions of a start rest on nothing. */

/** Environment variables by name; an empty value counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that stops start-up. Its message names the variable and what is allowed, never the value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly variable: string, allowed: string) {
    super(`${variable} ${allowed}`);
  }
}

/** Trimmed value, or undefined when unset or empty. */
export function optionalText(env: Environment, variable: string): string | undefined {
  const value = env[variable]?.trim();
  return value === undefined || value === "" ? undefined : value;
}
