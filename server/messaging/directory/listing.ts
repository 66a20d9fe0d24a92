/**
 * What the directory holds of an agent: one row while it is listed, none while it is banned. A log
 * of changes lets other processes keep their search index up to date.
 *
 * The log's sequence number is a record. Every change of a listing checks it, so that numbers have
 * no gaps and are in commit order. Registrations are not in the log, since agent ids are in commit
 * order.
 */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { AgentRecord } from "../agents/agent_records.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** ["listed", agentId]; absent while the agent is banned. */
export interface ListingRow {
  v: 1;
  id: number;
  handle: string;
  wordName: string;
  address: string;
  displayName: string;
  description: string;
  tags: string[];
  createdAtMs: number;
}

/** ["directory", "log"] */
export interface ListingLog {
  v: 1;
  /** Number of the last change. */
  seq: number;
}

/** A process that missed more changes than this reads the directory again. */
const CHANGE_KEPT_MS = 6 * 3_600_000;

export const listingKey = defineRow<[agentId: number]>(["listed"], 1, {
  holds: "the agent as the directory shows it; none while it is banned",
});
export const LISTING_LOG = defineRecord<ListingLog>(["directory", "log"], 0, {
  holds: "number of the last change of a listing",
})();
export const changeKey = defineRow<[seq: number]>(["directory", "change"], 1, {
  holds: "id of the agent that changed",
  expires: "6 h",
});

export function listingOf(agent: AgentRecord): ListingRow {
  const { id, handle, wordName, address, displayName, description, tags, createdAtMs } = agent;
  return { v: 1, id, handle, wordName, address, displayName, description, tags, createdAtMs };
}

/** Writes the listing of an agent as it is now, or deletes it, and adds the change to the log. */
export function stageListing(transaction: Transaction, agent: AgentRecord, listed: boolean): void {
  const seq = (transaction.record(LISTING_LOG)?.seq ?? 0) + 1;
  transaction.putRecord(LISTING_LOG, { v: 1, seq });
  transaction.set(changeKey(seq), agent.id, CHANGE_KEPT_MS);
  if (listed) transaction.set(listingKey(agent.id), listingOf(agent));
  else transaction.delete(listingKey(agent.id));
}

/** AgentListEntry (specification, 2.3). */
export function agentListEntry(listing: ListingRow) {
  return {
    id: listing.id,
    handle: listing.handle,
    word_name: listing.wordName,
    address: listing.address,
    display_name: listing.displayName,
    description: listing.description,
    tags: listing.tags,
    created_at: timestamp(listing.createdAtMs),
  };
}
