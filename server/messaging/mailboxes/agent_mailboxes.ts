/**
 * The two records of an agent that every send, ban and export reads and writes: `out` for what it
 * sends, `in` for what it receives. They are two so that a flooded inbox does not starve its owner's
 * sends.
 */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { Window } from "../../base/bounds/rate_window.ts";

/** The holder of an agent's private key (specification, 2.4). */
export type Custody = "self" | "relay";

/** ["in", agentId] */
export interface InRecord {
  v: 1;
  /** Id of the newest message in this inbox; 0 while it never had one. */
  head: number;
  banned: boolean;
  /** True while the agent has a notification e-mail: its messages make it a candidate for a digest. */
  notify: boolean;
}

/** ["out", agentId] */
export interface OutRecord {
  v: 1;
  /** Id of the newest message in this outbox; 0 while it never had one. */
  head: number;
  banned: boolean;
  custody: Custody;
  /** Stored sends of the last minute. */
  sends: Window;
  /** Retained bytes by day sent: flat pairs [days since 1970, bytes], oldest first. */
  retained: readonly number[];
}

export const inKey = defineRecord<InRecord, [agentId: number]>(["in"], 1, {
  holds: "head of the inbox, banned, notify",
});
export const outKey = defineRecord<OutRecord, [agentId: number]>(["out"], 1, {
  holds: "head of the outbox, banned, custody, sends of the last minute, retained bytes by day",
});

export function newInRecord(): InRecord {
  return { v: 1, head: 0, banned: false, notify: false };
}

export function newOutRecord(custody: Custody): OutRecord {
  return { v: 1, head: 0, banned: false, custody, sends: [], retained: [] };
}
