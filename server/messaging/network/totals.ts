/**
 * The two totals of GET /v1/stats. Each is a difference of counters that only grow. A group adds to
 * them without reading, so that no commit reads a counter.
 */
import type { Rows } from "../../base/storage/rows/rows.ts";

/** KvU64: sends that were counted, for ever. */
export const MESSAGE_COUNT: Deno.KvKey = ["total", "messages"];
/** KvU64: registrations of handles that are not test traffic. */
export const REGISTRATION_COUNT: Deno.KvKey = ["total", "registrations"];
/** KvU64: bans and unbans of such agents. */
export const BAN_COUNT: Deno.KvKey = ["total", "bans"];
export const UNBAN_COUNT: Deno.KvKey = ["total", "unbans"];

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
