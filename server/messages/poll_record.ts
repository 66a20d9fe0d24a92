/** ["poll", agentId]: what the relay remembers of an agent's inbox polls. */
export interface PollRecord {
  v: 1;
  /** When the last recorded accepted poll began, unix ms. */
  lastPollMs: number;
  /** Every message up to this id has been delivered. */
  readUpTo: number;
  /** Attempt that wrote the record. */
  attempt: string;
}

export const pollKey = (agentId: number): Deno.KvKey => ["poll", agentId];
