/** The whole store as text, so that tests can see whether anything in it has changed. */

/** Rows that any request may change: when an agent was seen and polled, how far ids may go. */
const READ_MARKS = new Set(["seen", "poll", "slot"]);

/**
 * One line for each row, in key order. Rows that any request may change are left out unless asked
 * for.
 */
export async function listRows(
  kv: Deno.Kv,
  { marks = false }: { marks?: boolean } = {},
): Promise<string[]> {
  const lines: string[] = [];
  for await (const { key, value } of kv.list({ prefix: [] })) {
    if (!marks && READ_MARKS.has(String(key[0]))) continue;
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
