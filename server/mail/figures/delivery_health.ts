/** How well an org's mail arrives (docs/mail.md, "Usage and health"). Pure. */
import type { Counts } from "../records/figures_record.ts";

export type HealthState = "healthy" | "warning" | "critical";

/** Under so many recipients a rate says nothing. */
const LEAST_FOR_A_RATE = 20;
const BOUNCES = { warning: 0.05, critical: 0.1 };
const COMPLAINTS = { warning: 0.001, critical: 0.005 };

/** @param counts of the messages that were accepted in a period */
export function deliveryHealth(counts: Counts) {
  const of = (name: keyof Counts) => counts[name] ?? 0;
  const bounced = { hard: of("bouncedHard"), soft: of("bouncedSoft") };
  const sent = of("taken");
  const bounceRate = rate(bounced.hard + bounced.soft, sent + of("refused"));
  const complaintRate = rate(of("complained"), sent);
  return {
    sent,
    delivered: of("delivered"),
    deferred: of("deferred"),
    bounced,
    complained: of("complained"),
    failed: of("failed"),
    pending: of("pending"),
    bounce_rate: bounceRate,
    complaint_rate: complaintRate,
    state: worst(stateOf(bounceRate, BOUNCES), stateOf(complaintRate, COMPLAINTS)),
  };
}

function rate(some: number, all: number): number | null {
  return all < LEAST_FOR_A_RATE ? null : some / all;
}

function stateOf(rate: number | null, bounds: typeof BOUNCES): HealthState {
  if (rate === null || rate < bounds.warning) return "healthy";
  return rate < bounds.critical ? "warning" : "critical";
}

function worst(one: HealthState, other: HealthState): HealthState {
  if (one === "critical" || other === "critical") return "critical";
  return one === "warning" || other === "warning" ? "warning" : "healthy";
}
