/**
 * The two totals of GET /v1/stats. Each is a difference of counters that only grow. A group adds to
 * them without reading, so that no commit reads a counter.
 */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** KvU64: sends that were counted, for ever. */
export const MESSAGE_COUNT = defineRow(["total", "messages"], 0, {
  holds: "KvU64 sum of sends, without test traffic",
})();
/** KvU64: registrations of handles that are not test traffic. */
export const REGISTRATION_COUNT = defineRow(["total", "registrations"], 0, {
  holds: "KvU64 sum of registrations, without test traffic",
})();
/** KvU64: bans and unbans of such agents. */
export const BAN_COUNT = defineRow(["total", "bans"], 0, {
  holds: "KvU64 sum of bans, without test traffic",
})();
export const UNBAN_COUNT = defineRow(["total", "unbans"], 0, {
  holds: "KvU64 sum of unbans, without test traffic",
})();

export interface Totals {
  messages: number;
  /** Registered, not test traffic, not banned; exported keys included. */
  agents: number;
}

/** Both totals as of one moment. */
export async function readTotals(store: Rows): Promise<Totals> {
  const keys = [MESSAGE_COUNT, REGISTRATION_COUNT, BAN_COUNT, UNBAN_COUNT];
  const rows = await store.getMany<Deno.KvU64[]>(keys);
  const [messages, registrations, bans, unbans] = rows.map((row) => Number(row.value?.value ?? 0n));
  return { messages: messages!, agents: registrations! - bans! + unbans! };
}
