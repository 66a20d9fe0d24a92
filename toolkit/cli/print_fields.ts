import { printable } from "./printable.ts";

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

/** One JSON object on one line. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
