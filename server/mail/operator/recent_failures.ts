/** Recipients that failed for good lately, in memory, for the operator: their domains alone. */
import { domainOf } from "../../base/outgoing/recipient_domain.ts";
import type { ChangedRecipient } from "../receiving/reports/recipient_changes.ts";

export interface RecentFailure {
  atMs: number;
  orgId: string;
  /** Of the recipient. */
  domain: string;
  status: "bounced" | "complained" | "failed";
  smtpCode: number | null;
  enhancedCode: string | null;
  reason: string | null;
}

const KEPT = 20;
const FAILED: readonly string[] = ["bounced", "complained", "failed"];

export class RecentFailures {
  /** By message, recipient and status: a change that is planned again is one. */
  readonly #kept = new Map<string, RecentFailure>();

  /** Takes a change of a recipient as its commit plans it. */
  note({ row, recipient, after }: Pick<ChangedRecipient, "row" | "recipient" | "after">): void {
    const { status, smtpCode, enhancedCode, reason, atMs, address } = after;
    if (!FAILED.includes(status)) return;
    const key = `${row.id}/${recipient}/${status}`;
    this.#kept.delete(key);
    this.#kept.set(key, {
      atMs,
      orgId: row.orgId,
      domain: domainOf(address),
      status: status as RecentFailure["status"],
      smtpCode,
      enhancedCode,
      reason,
    });
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }

  get newestFirst(): RecentFailure[] {
    return [...this.#kept.values()].reverse();
  }
}
