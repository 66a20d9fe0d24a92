/** The whole store as text, so that tests can see whether anything in it has changed. */

import { journalKey, type JournalRow } from "../../server/base/storage/commits/journal.ts";

/** Rows that any request may change: when an agent was seen and polled, how far ids may go. */
const READ_MARKS = new Set(["seen", "poll", "slot"]);
/** Rows that the relay's periodic work changes: who does it now, and that a commit of it was made. */
const OWN_WORK = new Set(["lease", "attempt"]);

/**
 * One line for each row, in key order, records as they are, in their rows or still in the journal. Rows
 * that any request may change are left out unless asked for.
 */
export async function listRows(
  kv: Deno.Kv,
  { marks = false }: { marks?: boolean } = {},
): Promise<string[]> {
  const lines: string[] = [];
  // A record leaves the journal once it stands in its row: looked for there first, none is missed.
  const journalled = new Map<string, unknown>();
  for await (const { value: { records } } of kv.list<JournalRow>({ prefix: journalKey.under() })) {
    for (const [key, value] of records) journalled.set(describe(key), value);
  }
  for await (const { key, value } of kv.list({ prefix: [] })) {
    const kind = String(key[0]);
    if (kind === journalKey.under()[0] || OWN_WORK.has(kind)) continue;
    if (!marks && READ_MARKS.has(kind)) continue;
    const name = describe(key);
    lines.push(`${name} = ${describe(journalled.has(name) ? journalled.get(name) : value)}`);
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
