import type { Host } from "./host.ts";

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 };

/** Puts a text in a color. */
export type Paint = (color: keyof typeof CODES, text: string) => string;

/**
 * Colors for standard output: on a terminal only, and not where NO_COLOR is set or TERM is dumb.
 */
export function painter(host: Pick<Host, "env" | "isTerminal">): Paint {
  const isPlain = !host.isTerminal("stdout") || !!host.env("NO_COLOR") ||
    host.env("TERM") === "dumb";
  return isPlain
    ? (_color, text) => text
    : (color, text) => `\u001b[${CODES[color]}m${text}\u001b[0m`;
}

/** Colors what a line of verdicts begins with. */
export function verdictPainter(host: Pick<Host, "env" | "isTerminal">): (line: string) => string {
  const paint = painter(host);
  return (line) =>
    line
      .replace(/^passed(?=:)/, (word) => paint("green", word))
      .replace(/^(?:FALSE|malformed)(?=:)/, (word) => paint("red", word))
      .replace(/^not bound(?=:)/, (words) => paint("yellow", words));
}
