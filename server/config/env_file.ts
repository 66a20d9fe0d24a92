/** Settings from a file beside the process. */
import { parseEnv } from "node:util";
import type { Environment } from "./values.ts";

/**
 * Variables of a `.env` file under those of the process, which win.
 * The form is the usual one: NAME=value a line, `#` comments, quotes around values with spaces.
 * A missing file, or one the process was not given to read, holds none.
 * @throws Error when the file exists and cannot be read
 */
export async function withEnvFile(process: Environment, path: string): Promise<Environment> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) {
      return process;
    }
    throw error;
  }
  return { ...parseEnv(text), ...process };
}
