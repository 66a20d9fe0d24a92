/** What goes with keys that leave the list of their org. */
import type { Turn } from "../../storage/job.ts";
import { keyOwnerKey, type MailKey } from "../records/key_record.ts";
import { usedKey } from "./last_used.ts";

/**
 * Deletes the rows of keys, in the commit that takes them off the org's list. Unchecked: a key that
 * is not on the list is none, whatever else is stored of it.
 */
export function dropKeys(turn: Turn, orgId: string, keys: readonly MailKey[]): void {
  for (const { hash, id } of keys) {
    turn.delete(keyOwnerKey(hash));
    turn.delete(usedKey(orgId, id));
  }
}
