/** How often an agent may poll its inbox (specification, section 8; docs/api.md, "Limits"). */
import { rateLimited } from "../../../base/errors.ts";
import { BoundedMap } from "../../../base/bounds/bounded_map.ts";
import { CLOCK_SKEW_MS } from "../../../base/time/clock_skew.ts";

/**
 * Milliseconds until the next poll is accepted, 0 for now. Pure.
 * @param lastPollMs when the last accepted poll began
 */
function waitForPollMs(lastPollMs: number, nowMs: number, intervalMs: number): number {
  if (lastPollMs > nowMs + CLOCK_SKEW_MS) return 0; // from a clock that has jumped
  return Math.min(intervalMs, Math.max(0, lastPollMs + intervalMs - nowMs));
}

/** @throws RelayError `rate_limited` while the floor has not passed */
export function refuseEarlyPoll(lastPollMs: number, nowMs: number, intervalMs: number): void {
  const waitMs = waitForPollMs(lastPollMs, nowMs, intervalMs);
  if (waitMs === 0) return;
  throw rateLimited(
    `the inbox may be polled once every ${intervalMs} ms; wait retry_after_ms (GET /v1/inbox?wait=25 holds one poll open instead)`,
    waitMs,
    {
      toolMessage:
        `check_inbox may be called once every ${intervalMs} ms; wait retry_after_ms, then call it again (with wait_seconds it waits for a message)`,
    },
  );
}

/** The polls of this process: where it alone serves the store, memory is enough. */
export class PollFloor {
  readonly #began = new BoundedMap<number, number>(200_000);
  /** Agents whose last poll is newer than their record. */
  readonly #unwritten = new Map<number, number>();

  constructor(private readonly intervalMs: number) {}

  /** Accepts a poll that begins now. @returns undoes it when the poll fails. @throws RelayError `rate_limited` */
  begin(agentId: number, nowMs: number): () => void {
    const before = this.#began.get(agentId);
    if (before !== undefined) refuseEarlyPoll(before, nowMs, this.intervalMs);
    const written = this.#unwritten.get(agentId);
    this.#began.set(agentId, nowMs);
    this.#unwritten.set(agentId, nowMs);
    return () => {
      if (this.#began.get(agentId) !== nowMs) return;
      if (before === undefined) this.#began.delete(agentId);
      else this.#began.set(agentId, before);
      if (written === undefined) this.#unwritten.delete(agentId);
      else this.#unwritten.set(agentId, written);
    };
  }

  /** When the last accepted poll of an agent began that this process knows of, or null. */
  lastBeganMs(agentId: number): number | null {
    return this.#began.get(agentId) ?? this.#unwritten.get(agentId) ?? null;
  }

  /** The last polls that no record holds yet. */
  unwritten(): [agentId: number, beganMs: number][] {
    return [...this.#unwritten];
  }

  /** The record of this agent holds its polls up to a time. */
  written(agentId: number, upToMs: number): void {
    const beganMs = this.#unwritten.get(agentId);
    if (beganMs !== undefined && beganMs <= upToMs) this.#unwritten.delete(agentId);
  }
}
