/** Times in request bodies (RFC 3339). Pure. */
import { invalidJson } from "../../errors.ts";

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * A time in unix ms; further digits of the second are cut.
 * @throws RelayError `invalid_json` naming the field
 */
export function readTime(field: string, given: unknown): number {
  const match = typeof given === "string" ? RFC_3339.exec(given) : null;
  if (match !== null) {
    const [, date, time, fraction = "", zone] = match;
    const dayMs = Date.parse(`${date}T00:00:00Z`);
    // Date.parse takes the 31st of February for the 3rd of March.
    const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(date!);
    const atMs = Date.parse(`${date}T${time}${fraction.slice(0, 4)}${zone!.toUpperCase()}`);
    if (isDay && !Number.isNaN(atMs)) return atMs;
  }
  throw invalidJson(
    `${field} must be a time in RFC 3339, such as 2027-01-31T12:00:00Z`,
  );
}
