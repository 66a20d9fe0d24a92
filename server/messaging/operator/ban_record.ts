/** What is kept of a ban for the operator, and the list of bans. */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { Identity } from "../agents/agent_records.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";

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

export const BAN_LIST_PREFIX: Deno.KvKey = ["bans"];
export const banKey = defineRecord<BanRecord, [agentId: number]>(["ban"], 1);
const listedKey = (bannedAtMs: number | null, agentId: number): Deno.KvKey => [
  ...BAN_LIST_PREFIX,
  bannedAtMs ?? 0,
  agentId,
];

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
    transaction.set(listedKey(bannedAtMs, id), listed);
  } else if (before !== null) transaction.delete(listedKey(before.bannedAtMs, id));
}
