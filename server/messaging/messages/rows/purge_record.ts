/** What the store holds of a purge: the deletion of everything that an agent has sent. */
import { defineRecord } from "../../../base/storage/commits/record_key.ts";

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

export const PURGE_PREFIX: Deno.KvKey = ["purge"];
export const purgeKey = defineRecord<PurgeRecord, [agentId: number]>(["purge"], 1);
/** ["purging", agentId]: stands while the sweep of a purge has not ended. */
export const PURGING_PREFIX: Deno.KvKey = ["purging"];
export const purgingKey = (agentId: number): Deno.KvKey => ["purging", agentId];
/** Written with every purge, so that other processes see that there is a new one. */
export const PURGE_MARK: Deno.KvKey = ["purge-mark", 0];

/** Whether a message is gone by a purge of its sender. */
export function isPurged(purge: PurgeRecord | null, id: number): boolean {
  return purge !== null && id < purge.beforeId;
}
