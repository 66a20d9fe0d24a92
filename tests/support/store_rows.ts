/** The whole store as text, so that tests can see whether anything in it has changed. */

import { journalKey } from "../../server/base/storage/journal/journal_row.ts";
import { readThrough } from "./read_through.ts";

/** Rows that any request may change: when an agent was seen and polled, how far ids may go. */
const READ_MARKS = new Set(["seen", "poll", "slot"]);
/** Rows that the relay's periodic work changes: who does it now, and that a commit of it was made. */
const OWN_WORK = new Set(["lease", "attempt"]);

/**
 * One line for each row, in key order, as it is, where it belongs or still in the journal. Rows
 * that any request may change are left out unless asked for.
 */
export async function listRows(
  kv: Deno.Kv,
  { marks = false }: { marks?: boolean } = {},
): Promise<string[]> {
  const lines: string[] = [];
  for await (const { key, value } of readThrough(kv).list({ prefix: [] })) {
    const kind = String(key[0]);
    if (kind === journalKey.under()[0] || OWN_WORK.has(kind)) continue;
    if (!marks && READ_MARKS.has(kind)) continue;
    lines.push(`${describe(key)} = ${describe(value)}`);
  }
  return lines;
}

function describe(value: unknown): string {
  return Deno.inspect(value, {
    depth: Infinity,
    iterableLimit: Infinity,
    strAbbreviateSize: Infinity,
    breakLength: Infinity,
    sorted: true,
  });
}
