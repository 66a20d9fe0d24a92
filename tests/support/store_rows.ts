/** The whole store as text, so that tests can tell whether anything in it has changed. */

/** Rows that reads may write too: when an agent was seen and when it polled. */
const READ_MARKS = new Set(["seen", "poll"]);

/** One line a row, in key order; without the marks that reads leave unless asked for. */
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
