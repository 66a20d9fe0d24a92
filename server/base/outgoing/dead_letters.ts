/** Lists what the outgoing queue gave up, for the operator. */
import type { Store } from "../storage/rows/store.ts";
import { deadKey, type DeadLetter } from "./outgoing_row.ts";

const COUNTED = 1_000;

/** The newest rows that were given up in the last 30 days. */
export async function listDeadLetters(
  store: Pick<Store, "list">,
  limit: number,
): Promise<DeadLetter[]> {
  const rows = await store.list<DeadLetter>({ prefix: deadKey.under() }, {
    limit,
    reverse: true,
  });
  return rows.map(({ value }) => value);
}

/** The note that start-up prints about them; null when there is none. */
export async function deadLetterNote(store: Pick<Store, "list">): Promise<string | null> {
  const dead = await listDeadLetters(store, COUNTED);
  if (dead.length === 0) return null;
  const newest = dead[0]!;
  const count = dead.length < COUNTED ? String(dead.length) : `${COUNTED} or more`;
  const when = new Date(newest.diedAtMs).toISOString();
  return `${count} given up in the last 30 days; the newest, a ${newest.kind} of ${when}: ${newest.reason}`;
}
