import { defineRecord } from "../../../base/storage/commits/record_key.ts";
import type { Rows } from "../../../base/storage/rows/rows.ts";
import type { ReadRanges } from "./read_ranges.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

/** ["poll", agentId]: what the relay remembers of an agent's inbox polls. */
export interface PollRecord {
  v: 1;
  /** When the last recorded accepted poll began, unix ms. */
  lastPollMs: number;
  /** Which messages have been delivered. */
  read: ReadRanges;
  /** True once single deliveries stand in ["read", agentId, messageId] rows, for want of room here. */
  overflow: boolean;
}

/** Ranges that one record holds: an agent that polls here and there makes one a poll. */
export const MAX_READ_RANGES = 1_000;

export const pollKey = defineRecord<PollRecord, [agentId: number]>(["poll"], 1, {
  holds: "last recorded poll, and which messages were delivered, as ranges of ids",
});
export const readKey = defineRow<[agentId: number, messageId: number]>(["read"], 2, {
  holds: "a single delivery that the record had no room for (over 1,000 ranges)",
  expires: "30 d",
});

/** Which of these messages were delivered on their own; one at least, in the order of their ids or the reverse. */
export async function deliveredAlone(
  store: Pick<Rows, "list">,
  agentId: number,
  messages: readonly { id: number }[],
): Promise<Set<number>> {
  const [first, last] = [messages[0]!.id, messages.at(-1)!.id];
  const start = readKey(agentId, Math.min(first, last));
  const end = readKey(agentId, Math.max(first, last) + 1);
  return new Set((await store.list({ start, end })).map(({ key }) => key[2] as number));
}
