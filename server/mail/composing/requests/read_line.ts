/** Lines of text in requests to send. Pure. */
import { invalidJson } from "../../../base/errors.ts";
import { cleanLine } from "../../../base/http/fields/text_fields.ts";

/**
 * One trimmed line that has a form in UTF-8.
 * @throws RelayError `invalid_json` naming the field
 */
export function readLine(field: string, given: unknown, maxCodePoints: number): string {
  const line = cleanLine(field, given, maxCodePoints);
  if (line.isWellFormed()) return line;
  throw invalidJson(`${field} must not hold lone surrogates`);
}
