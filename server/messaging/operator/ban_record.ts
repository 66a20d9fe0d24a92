/** What is kept of a ban for the operator, and the list of bans. */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { Identity } from "../agents/agent_records.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** ["ban", agentId]; stands while the agent is banned. Null where the ban is older than these records. */
export interface BanRecord {
  v: 1;
  reason: string | null;
  bannedAtMs: number | null;
}

/** ["bans", bannedAtMs or 0, agentId]: the list in the order of time. */
export interface ListedBan {
  v: 1;
  address: string;
  handle: string;
  reason: string | null;
  bannedAtMs: number | null;
}

export const banKey = defineRecord<BanRecord, [agentId: number]>(["ban"], 1, {
  holds: "reason and time of a ban",
  expires: "while it stands",
});
export const listedKey = defineRow<[bannedAtMs: number, agentId: number]>(["bans"], 2, {
  holds: "the list of bans as it is shown, in the order of time (0 where it is not known)",
});

/** Writes the record of a ban, or deletes it for null. */
export function stageBan(
  transaction: Transaction,
  { id, address, handle }: Pick<Identity, "id" | "address" | "handle">,
  ban: BanRecord | null,
): void {
  const before = transaction.record(banKey(id));
  transaction.putRecord(banKey(id), ban);
  if (ban !== null) {
    const { reason, bannedAtMs } = ban;
    const listed: ListedBan = { v: 1, address, handle, reason, bannedAtMs };
    transaction.set(listedKey(bannedAtMs ?? 0, id), listed);
  } else if (before !== null) transaction.delete(listedKey(before.bannedAtMs ?? 0, id));
}
