/** Lists what the outgoing queue gave up, for the operator. */
import { retryWhileLocked } from "../storage/lock_retry.ts";
import type { DeadRow } from "./outgoing_row.ts";

const COUNTED = 1_000;

/** The newest rows that were given up in the last 30 days. */
export async function listDead(kv: Deno.Kv, limit: number): Promise<DeadRow[]> {
  return await retryWhileLocked(async () => {
    const rows: DeadRow[] = [];
    const list = kv.list<DeadRow>({ prefix: ["outgoing-dead"] }, { limit, reverse: true });
    for await (const { value } of list) rows.push(value);
    return rows;
  });
}

/** The note that start-up prints about them; null when there is none. */
export async function deadNote(kv: Deno.Kv): Promise<string | null> {
  const dead = await listDead(kv, COUNTED);
  if (dead.length === 0) return null;
  const newest = dead[0]!;
  const count = dead.length < COUNTED ? String(dead.length) : `${COUNTED} or more`;
  const when = new Date(newest.diedAtMs).toISOString();
  return `${count} given up in the last 30 days; the newest, a ${newest.kind} of ${when}: ${newest.reason}`;
}
