/** The sweep that takes an agent's events off the feed after a ban, or puts them back after an unban. */
import { defineRecord } from "../../base/storage/commits/record_key.ts";

/**
 * ["sweep", agentId]: exists from the ban or unban until its sweep has ended. A later ban or unban
 * replaces it, so that the former sweep cannot go on.
 */
export interface SweepRecord {
  v: 1;
  kind: "hide" | "show";
  /** Mailbox that is walked, newest message first; the sent ones come before the received ones. */
  box: "outbox" | "inbox";
  /** Messages of the box below this id are still to be done. */
  beforeId: number;
  /** Where the walk of the inbox begins. */
  inboxBeforeId: number;
}

export const sweepKey = defineRecord<SweepRecord, [agentId: number]>(["sweep"], 1, {
  holds: "how far a ban or unban has corrected feed and leaderboard",
  expires: "until done",
});

/**
 * The sweep that a ban or unban begins. No message of the agent can be above both heads.
 * @param sentHead id of the newest message sent
 * @param receivedHead id of the newest message received
 */
export function newSweep(
  kind: SweepRecord["kind"],
  sentHead: number,
  receivedHead: number,
): SweepRecord {
  return { v: 1, kind, box: "outbox", beforeId: sentHead + 1, inboxBeforeId: receivedHead + 1 };
}
