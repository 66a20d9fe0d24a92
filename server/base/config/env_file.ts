/** Settings from a file beside the process. */
import { ConfigError, type Environment } from "./config_error.ts";

/**
 * Variables of a `.env` file, below the process's own, which win. A missing file, or one the
 * process was not given to read, holds none.
 * @throws ConfigError naming the line that is malformed; Error when the file cannot be read
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
  return { ...parseEnvFile(text), ...process };
}

const BLANK = /[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/y;
const ASSIGNMENT =
  /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|'([^']*)'|([^"'\r\n][^\r\n]*)?)/y;

/**
 * Assignments of a `.env` file: NAME=value a line, `export` before it allowed, `#` begins a comment
 * at a line's start or behind a space. "Double quotes" know \n, \t, \" and \\ and may span lines,
 * 'single quotes' hold their text as it is; the last assignment of a name wins.
 * Own code: node:util has parseEnv only in later runtimes, and it passes over malformed lines.
 * @throws ConfigError naming the line; it repeats nothing of it
 */
export function parseEnvFile(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  let at = text.startsWith("\ufeff") ? 1 : 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    if (take(BLANK) !== null) continue;
    const lineNumber = text.slice(0, at).split("\n").length;
    const assignment = take(ASSIGNMENT);
    if (assignment === null || take(BLANK) === null) {
      throw new ConfigError(
        `.env line ${lineNumber}`,
        'must be NAME=value, with "quotes" around a value that begins with a quote, or a # comment',
      );
    }
    const [, name, double, single, bare] = assignment;
    values[name!] = single ??
      (double === undefined ? withoutComment(bare ?? "") : unescape(double));
  }
  return values;
}

function withoutComment(bare: string): string {
  return bare.replace(/(^|[ \t])#.*$/, "").trim();
}

function unescape(quoted: string): string {
  return quoted.replaceAll(/\\([nrt"\\])/g, (_, character: string) => {
    const special: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
    return special[character] ?? character;
  });
}
