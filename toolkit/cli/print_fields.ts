import { printable, UNPRINTABLE } from "./printable.ts";

/**
 * Lines of names and values, one under the other, for people.
 *
 * @param fields values that are undefined or empty are left out
 */
export function printFields(fields: Readonly<Record<string, string | number | undefined>>): string {
  const rows = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}\n`).join(
    "",
  );
}

/**
 * One JSON object on one line. What {@linkcode printable} would escape is escaped as JSON does, so that
 * it is parsed to the same.
 */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(UNPRINTABLE, escapedUnits)}\n`;
}

function escapedUnits(text: string): string {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
