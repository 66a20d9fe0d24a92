import type { Environment } from "./config_error.ts";

/**
 * The variables of this list that the process has, read one by one: a relay may read no others.
 * @throws Deno.errors.NotCapable naming one that it may not read
 */
export function readSettings(names: readonly string[]): Environment {
  const settings: Record<string, string> = {};
  for (const name of names) {
    const value = Deno.env.get(name);
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}
