/**
 * When agents were last seen. Kept in memory and written at most once a minute an agent, so that a
 * request costs no commit; a crash loses at most that minute.
 */
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { BoundedMap } from "../storage/bounded_map.ts";
import type { Clock } from "../deps.ts";

const ROWS_A_COMMIT = 500;

/** ["seen", agentId] -> unix ms */
const seenKey = (agentId: number): Deno.KvKey => ["seen", agentId];

export class Presence {
  readonly #latest = new BoundedMap<number, number>(100_000);
  #unwritten = new Map<number, number>();

  constructor(private readonly kv: Deno.Kv, private readonly now: Clock) {}

  /** Records an accepted authenticated request of the agent. */
  touch(agentId: number): void {
    const nowMs = this.now();
    this.#latest.set(agentId, nowMs);
    this.#unwritten.set(agentId, nowMs);
  }

  /** Unix ms of the last accepted authenticated request, at most 60 s late; null before the first. */
  async lastSeenMs(agentId: number): Promise<number | null> {
    const stored = await retryWhileLocked(() => this.kv.get<number>(seenKey(agentId)));
    const own = this.#latest.get(agentId);
    if (own === undefined) return stored.value;
    return Math.max(own, stored.value ?? 0);
  }

  /** Agents seen since the last flush, with their times. */
  unwritten(): ReadonlyMap<number, number> {
    return this.#unwritten;
  }

  /** Writes what changed. Called every minute and at shutdown. */
  async flush(): Promise<void> {
    const rows = [...this.#unwritten];
    this.#unwritten = new Map();
    for (let from = 0; from < rows.length; from += ROWS_A_COMMIT) {
      const some = rows.slice(from, from + ROWS_A_COMMIT);
      try {
        await retryWhileLocked(() => {
          const operation = this.kv.atomic();
          for (const [agentId, seenMs] of some) operation.set(seenKey(agentId), seenMs);
          return operation.commit();
        });
      } catch (error) {
        for (const [agentId, seenMs] of rows.slice(from)) {
          if (!this.#unwritten.has(agentId)) this.#unwritten.set(agentId, seenMs);
        }
        throw error;
      }
    }
  }
}
