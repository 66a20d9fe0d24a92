/** A sliding window that a commit checks and writes, so that it holds across processes. */
import { defineRecord, type RecordKey } from "./record_key.ts";
import { admitOrRefuse, type Window, type WindowRule } from "../../bounds/rate_window.ts";
import type { Transaction } from "./job.ts";
import { EXPIRY_MARGIN_MS } from "../rows/store.ts";
import type { Told } from "../rows/row_key.ts";

export interface WindowRecord {
  v: 1;
  window: Window;
}

/** Whose events are counted: the hash of a client address, or an agent id. */
type Counted = string | number;

/** Makes the keys of one kind of window. */
export type WindowKey = (who: Counted) => RecordKey<WindowRecord>;

const windowKey = defineRecord<WindowRecord, [name: string, who: Counted]>(["window"], 2, {
  holds: "the times of what is counted within a sliding window",
});

/** Declares a kind of window, of `window` and this name; as defineRecord(). */
export function defineWindow<_Who extends [Counted]>(name: string, _told: Told): WindowKey {
  return (who) => windowKey(name, who);
}

/**
 * Counts one more event, in the plan of a job.
 * @param refuse as for admitOrRefuse()
 * @throws what `refuse` makes
 */
export function stageWindow(
  transaction: Transaction,
  key: RecordKey<WindowRecord>,
  rule: WindowRule,
  refuse: (retryAfterMs: number) => Error,
  weight = 1,
): void {
  const former = transaction.record<WindowRecord>(key)?.window ?? [];
  const window = admitOrRefuse(former, transaction.nowMs, rule, refuse, weight);
  transaction.putRecord(key, { v: 1, window }, rule.windowMs + EXPIRY_MARGIN_MS);
}
