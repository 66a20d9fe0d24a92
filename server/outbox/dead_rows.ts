/** What the outbox gave up, for the operator to see. */
import type { DeadRow } from "./outgoing_row.ts";

/** The newest of what was given up in the last 30 days. */
export async function listDead(kv: Deno.Kv, limit: number): Promise<DeadRow[]> {
  const rows: DeadRow[] = [];
  const list = kv.list<DeadRow>({ prefix: ["outgoing-dead"] }, { limit, reverse: true });
  for await (const { value } of list) rows.push(value);
  return rows;
}
