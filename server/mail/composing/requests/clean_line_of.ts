/** What others wrote, made fit for a line of ours. Pure. */
import { CONTROLS } from "../../../base/http/fields/text_fields.ts";

const ALL_CONTROLS = new RegExp(CONTROLS.source, "g");

/**
 * One trimmed line of at most so many code points: control characters, line ends and lone surrogates
 * become spaces, and runs of white space one.
 */
export function cleanLineOf(text: string, maxCodePoints: number): string {
  const line = text.toWellFormed().replace(ALL_CONTROLS, " ").replace(/\s+/g, " ").trim();
  if (line.length <= maxCodePoints) return line;
  return [...line].slice(0, maxCodePoints).join("").trim();
}
