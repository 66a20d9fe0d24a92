/**
 * When agents were last seen. The times are kept in memory and written at most once a minute for
 * each agent, so that a request costs no commit. A crash loses at most that minute.
 */
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

const ROWS_A_COMMIT = 500;
const REMEMBERED = 100_000;
/** How long other processes can catch up by logs; beyond, they read all rows. */
const LOG_KEPT_MS = 15 * 60_000;
/** A log may be stored so long after the time it stands under. */
const LOG_DELAY_MS = 2 * 60_000;
const REREAD_MS = 1_000;
const SEEN_BATCH = { batchSize: 500 };

const seenKey = defineRow<[agentId: number]>(["seen"], 1, {
  holds: "last accepted authenticated request in unix ms, at most 60 s late",
});
const logKey = defineRow<[flushedAtMs: number, random: Uint8Array]>(["seen-log"], 2, {
  holds: "who was seen when, `[agentId, unix ms]...` as one flush wrote it; on shared stores",
  expires: "15 min",
});

/** Takes that an agent was seen at some time, in unix ms. */
export type TellSeen = (agentId: number, seenMs: number) => void;

export class Presence {
  readonly #latest = new BoundedMap<number, number>(REMEMBERED);
  /** What the store has of some agents, null for nothing; kept where this process alone writes it. */
  readonly #stored = new BoundedMap<number, number | null>(REMEMBERED);
  #unwritten = new Map<number, number>();
  #tell: TellSeen = () => {};
  #readUpToMs = -Infinity;

  constructor(private readonly store: Store) {}

  /** Records an accepted authenticated request of the agent. */
  touch(agentId: number): void {
    const nowMs = this.store.now();
    this.#latest.set(agentId, nowMs);
    this.#unwritten.set(agentId, nowMs);
    this.#tell(agentId, nowMs);
  }

  /** Unix ms of the last accepted authenticated request, at most 60 s late; null before the first. */
  async lastSeenMs(agentId: number): Promise<number | null> {
    const stored = this.#stored.get(agentId) ?? await this.#readStored(agentId);
    const own = this.#latest.get(agentId);
    if (own === undefined) return stored;
    return Math.max(own, stored ?? 0);
  }

  /** Whether lastSeenMs() reads no store. */
  isInMemory(agentId: number): boolean {
    return this.#stored.get(agentId) !== undefined;
  }

  async #readStored(agentId: number): Promise<number | null> {
    const known = this.#stored.get(agentId);
    if (known !== undefined) return known;
    const { exclusive } = this.store;
    const { value } = await this.store.get<number>(seenKey(agentId));
    // A flush meanwhile has told what is newer.
    if (exclusive && this.#stored.get(agentId) === undefined) this.#stored.set(agentId, value);
    return value;
  }

  /**
   * Tells who was seen since the last call, by other processes at most a minute late; everybody at
   * the first call, and again after one that failed. Who is seen by this process is told at once from
   * then on. For the one reader that keeps an order of them.
   * @param tell always the same function; takes times in any order, some of them again
   */
  async follow(tell: TellSeen): Promise<void> {
    this.#tell = tell;
    const { now, exclusive } = this.store;
    const nowMs = now();
    const behindMs = nowMs - this.#readUpToMs;
    if (behindMs === Infinity) {
      await this.#readAll(tell);
      // What a flush had taken and not stored yet stands in memory alone.
      for (const [agentId, seenMs] of this.#latest.entries()) tell(agentId, seenMs);
      for (const [agentId, seenMs] of this.#unwritten) tell(agentId, seenMs);
    } else if (exclusive || behindMs >= 0 && behindMs < REREAD_MS) return;
    // A clock that went back: others write to their logs by the time before.
    else if (behindMs < 0 || behindMs > LOG_KEPT_MS / 2) await this.#readAll(tell);
    else await this.#readLogs(tell, this.#readUpToMs);
    this.#readUpToMs = nowMs;
  }

  async #readAll(tell: TellSeen): Promise<void> {
    const seen = this.store.batches<number>({ prefix: seenKey.under() }, SEEN_BATCH);
    for await (const rows of seen) {
      for (const { key, value } of rows) tell(key[1] as number, value);
    }
  }

  async #readLogs(tell: TellSeen, sinceMs: number): Promise<void> {
    const start = logKey.under(sinceMs - LOG_DELAY_MS);
    const logs = await this.store.list<number[]>({ prefix: logKey.under(), start });
    for (const { value } of logs) {
      for (let i = 0; i < value.length; i += 2) tell(value[i]!, value[i + 1]!);
    }
  }

  /** Writes what changed. Called every minute and at shutdown. */
  async flush(): Promise<void> {
    const { store } = this;
    const { now, random, exclusive } = store;
    const rows = [...this.#unwritten];
    this.#unwritten = new Map();
    for (let from = 0; from < rows.length; from += ROWS_A_COMMIT) {
      const some = rows.slice(from, from + ROWS_A_COMMIT);
      const name = random(12);
      try {
        await store.transact((transaction) => {
          for (const [agentId, seenMs] of some) transaction.set(seenKey(agentId), seenMs);
          if (exclusive) return;
          transaction.set(logKey(now(), name), some.flat(), { expireInMs: LOG_KEPT_MS });
        });
        if (exclusive) { for (const [agentId, seenMs] of some) this.#stored.set(agentId, seenMs); }
      } catch (error) {
        for (const [agentId, seenMs] of rows.slice(from)) {
          if (!this.#unwritten.has(agentId)) this.#unwritten.set(agentId, seenMs);
        }
        throw error;
      }
    }
  }
}
