/** What the store holds of a purge: the deletion of everything that an agent has sent. */
import { defineRecord } from "../../../base/storage/commits/record_key.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

/**
 * ["purge", agentId]: from the purge's acceptance until its last message would have expired. It says
 * for ever after which messages are gone, whatever rows a reader of that moment wrote again.
 */
export interface PurgeRecord {
  v: 1;
  /** The agent's, for the log. */
  handle: string;
  /** Messages of the agent with ids below this one go. */
  beforeId: number;
  /** The sweep goes on below this id, newest first; null once it has ended. */
  nextBeforeId: number | null;
  /** The agent's retained bytes when the purge was accepted: all of them of messages that go. */
  retained: readonly number[];
}

export const purgeKey = defineRecord<PurgeRecord, [agentId: number]>(["purge"], 1, {
  holds: "which messages of an agent are gone by a purge, and how far its sweep has come",
  expires: "30 d after its end",
});
export const purgingKey = defineRow<[agentId: number]>(["purging"], 1, {
  holds: "stands while the sweep of a purge has not ended",
});
export const PURGE_MARK = defineRow(["purge-mark", 0], 0, {
  holds: "written by every purge: processes see that there is a new one",
})();

/** Whether a message is gone because its sender was purged. */
export function isPurged(purge: PurgeRecord | null, id: number): boolean {
  return purge !== null && id < purge.beforeId;
}
