import { canonicalJson } from "../canonical_json.ts";
import type { JsonValue } from "../json_value.ts";
import { printable } from "./printable.ts";

/**
 * A message's body for people: subject and text where it is `{subject?, text}`, else its JSON. Every
 * line is indented and escaped, so that no body can look like what the command line says itself.
 */
export function printBody(body: JsonValue): string {
  const lines = bodyLines(body).map((line) => `  | ${printable(line)}\n`);
  return lines.join("");
}

function bodyLines(body: JsonValue): string[] {
  if (typeof body === "string") return body.split("\n");
  if (typeof body === "object" && body !== null && !Array.isArray(body)) {
    const { subject, text, ...extras } = body;
    const isLetter = typeof text === "string" && Object.keys(extras).length === 0 &&
      (subject === undefined || typeof subject === "string");
    if (isLetter && subject === undefined) return text.split("\n");
    if (isLetter) return [`Subject: ${subject}`, "", ...text.split("\n")];
  }
  return [canonicalJson(body)];
}
