import { canonicalJson } from "../canonical_json.ts";
import type { AgentListEntry, AgentProfile, WhoamiRecord } from "../client/records.ts";
import type { JsonValue } from "../json_value.ts";
import { printable, UNPRINTABLE } from "./printable.ts";

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

/**
 * Lines of names and values, one under the other, for people.
 *
 * @param fields values that are undefined or empty are left out
 */
export function printFields(fields: Readonly<Record<string, string | number | undefined>>): string {
  const rows = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}\n`);
  return lines.join("");
}

/** What is known about an agent, for people. */
export function printAgent(agent: AgentProfile | AgentListEntry | WhoamiRecord): string {
  return printFields({
    // First what is no claim: names come after the key.
    address: agent.address,
    "word name": agent.word_name,
    handle: agent.handle,
    name: agent.display_name,
    description: agent.description,
    tags: agent.tags.join(" "),
    custody: "key_custody" in agent ? agent.key_custody : undefined,
    registered: agent.created_at,
    "last seen": "last_seen_at" in agent ? agent.last_seen_at ?? "never" : undefined,
  });
}

/**
 * A message's body for people: subject and text where it is `{subject?, text}`, else its JSON. Every
 * line is indented and escaped, so that no body can look like what the command line says itself.
 */
export function printBody(body: JsonValue): string {
  return bodyLines(body).map((line) => `  | ${printable(line)}\n`).join("");
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
