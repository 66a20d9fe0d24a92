/**
 * Wakes waiting polls for what other processes have committed, and every 10 s for whatever a wake-up
 * was lost for. Within a process the commit itself wakes (arrivals.ts). Nothing runs while nobody waits.
 */
import { inKey, type InRecord } from "../../mailboxes/records.ts";
import { retryWhileLocked } from "../../storage/lock_retry.ts";
import { type RecordCache, recordName } from "../../storage/record_cache.ts";
import type { Store } from "../../storage/store.ts";
import { ROWS_A_READ } from "../../storage/read_rows.ts";
import type { Arrivals } from "./arrivals.ts";
import { pollKey } from "./poll_record.ts";
import { WAKE_SHARDS, wakeKey, wakeShardOf } from "./wake_marks.ts";

/** Calls back about every `everyMs` until the function it returns is called. */
export type StartTicker = (tick: () => void, everyMs: number) => () => void;

export interface WakeOptions {
  store: Store;
  arrivals: Arrivals;
  /** Records in memory: the truth on an exclusive store, not asked for on a shared one. */
  records: Pick<RecordCache, "peek">;
  /** Whether kv.watch tells of other processes' writes: on a KV server, not on a shared file. */
  watchable: boolean;
  startTicker?: StartTicker;
}

const TICK_MS = 1_000;
/** Every so many ticks all waiting polls are looked at, whatever the marks say. */
const TICKS_OF_A_ROUND = 10;
/** Polls that are woken before others have their turn: each reads its mailbox at once. */
const WOKEN_TOGETHER = 200;
/** Reads of mailboxes that are under way at one time. */
const READS_AT_ONCE = 8;
const ALL_SHARDS: readonly number[] = Array.from({ length: WAKE_SHARDS }, (_, shard) => shard);
const KEYS = ALL_SHARDS.map(wakeKey);

export class Wake {
  readonly #startTicker: StartTicker;
  #stopTicker: (() => void) | null = null;
  #ticks = 0;
  /** Versionstamps of the marks as last seen; none before the first look. */
  #marks: (string | null)[] | null = null;
  #watch: ReadableStreamDefaultReader<unknown> | null = null;
  /** Versionstamp of each waiting agent's records as last seen, by which a poll has read since. */
  readonly #seen = new Map<string, string | null>();
  #wanted = new Set<number>();
  #wantsPolls = false;
  #sweeping = false;
  #announcing = false;
  #endPause = () => {};
  #closed = false;

  constructor(private readonly options: WakeOptions) {
    this.#startTicker = options.startTicker ?? startIntervalTicker;
    options.arrivals.onFirst(() => this.#begin());
  }

  /** Stops for good. */
  close(): void {
    this.#closed = true;
    this.#rest();
  }

  #begin(): void {
    if (this.#stopTicker !== null || this.#closed) return;
    this.#ticks = 0;
    this.#stopTicker = this.#startTicker(() => this.#tick(), TICK_MS);
    if (!this.options.store.exclusive && this.options.watchable) void this.#openWatch();
  }

  #rest(): void {
    this.#stopTicker?.();
    this.#stopTicker = null;
    this.#endPause();
    this.#marks = null;
    this.#seen.clear();
    this.#wanted.clear();
    void this.#watch?.cancel().catch(() => {});
    this.#watch = null;
  }

  #tick(): void {
    const { store, arrivals, watchable } = this.options;
    if (arrivals.size === 0) return this.#rest();
    if (this.#wanted.size > 0 && !this.#sweeping) void this.#sweepWanted(); // one has failed
    const isRound = ++this.#ticks % TICKS_OF_A_ROUND === 0;
    if (store.exclusive) {
      if (isRound && !this.#announcing) void this.#announceAll();
      return;
    }
    if (isRound) this.#request(ALL_SHARDS, true);
    if (!watchable) void this.#readMarks();
    else if (this.#watch === null) void this.#openWatch(); // it broke: again every tick
  }

  /** Wakes, some at a time, every waiting poll that has not read what memory has, or of which it has nothing. */
  async #announceAll(): Promise<void> {
    const { arrivals, records } = this.options;
    this.#announcing = true;
    const agents = [...arrivals.agents()];
    for (let at = 0; at < agents.length && this.#stopTicker !== null; at += WOKEN_TOGETHER) {
      if (at > 0) await this.#pause(0);
      for (const agentId of agents.slice(at, at + WOKEN_TOGETHER)) {
        const inbox = records.peek(recordName(inKey(agentId)))?.value as InRecord | undefined;
        arrivals.announceUnread(agentId, inbox?.head);
      }
    }
    this.#announcing = false;
  }

  async #readMarks(): Promise<void> {
    try {
      this.#compare(await retryWhileLocked(() => this.options.store.kv.getMany(KEYS)));
    } catch {
      // The next tick looks again.
    }
  }

  async #openWatch(): Promise<void> {
    let watch: ReadableStreamDefaultReader<Deno.KvEntryMaybe<unknown>[]> | null = null;
    this.#marks = null;
    try {
      watch = this.options.store.kv.watch(KEYS).getReader();
      this.#watch = watch;
      for (;;) {
        const { done, value } = await watch.read();
        if (done || this.#watch !== watch) break;
        this.#compare(value);
      }
    } catch {
      // Broken: the next tick opens another.
    }
    if (this.#watch !== watch) return; // closed by us
    this.#watch = null;
    // What was marked meanwhile nobody has seen.
    this.#request(ALL_SHARDS, false);
  }

  #compare(entries: readonly Deno.KvEntryMaybe<unknown>[]): void {
    const before = this.#marks;
    this.#marks = entries.map(({ versionstamp }) => versionstamp);
    // The first look tells nothing of what came between a poll's reading and it.
    const changed = ALL_SHARDS.filter((shard) =>
      before === null || before[shard] !== this.#marks![shard]
    );
    if (changed.length > 0) this.#request(changed, false);
  }

  #request(shards: readonly number[], polls: boolean): void {
    for (const shard of shards) this.#wanted.add(shard);
    this.#wantsPolls ||= polls;
    if (!this.#sweeping) void this.#sweepWanted();
  }

  /** One sweep after the other, each followed by a pause as long: half of the time at most goes to it. */
  async #sweepWanted(): Promise<void> {
    this.#sweeping = true;
    try {
      while (this.#wanted.size > 0 && this.#stopTicker !== null) {
        const shards = this.#wanted;
        const polls = this.#wantsPolls;
        this.#wanted = new Set();
        this.#wantsPolls = false;
        const beganMs = performance.now();
        try {
          await this.#sweep(shards, polls);
        } catch {
          for (const shard of shards) this.#wanted.add(shard);
          this.#wantsPolls ||= polls;
          return; // the store did not answer: again at the next tick
        }
        const tookMs = performance.now() - beganMs;
        if (tookMs > 10) {
          await this.#pause(Math.min(tookMs, TICK_MS / 2));
        }
      }
    } finally {
      this.#sweeping = false;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Announces each waiting agent of the shards whose records have changed since they were last seen. */
  async #sweep(shards: ReadonlySet<number>, polls: boolean): Promise<void> {
    const { arrivals, store } = this.options;
    const agents = [...arrivals.agents()].filter((agentId) => shards.has(wakeShardOf(agentId)));
    const looks: { agentId: number; key: Deno.KvKey }[] = agents.map((agentId) => ({
      agentId,
      key: inKey(agentId),
    }));
    // A newer poll of the same agent in another process ends the older one.
    if (polls) { for (const agentId of agents) looks.push({ agentId, key: pollKey(agentId) }); }
    const reads: (typeof looks)[] = [];
    for (let at = 0; at < looks.length; at += ROWS_A_READ) {
      reads.push(looks.slice(at, at + ROWS_A_READ));
    }
    const readNext = async (): Promise<void> => {
      for (let some = reads.shift(); some !== undefined; some = reads.shift()) {
        const keys = some.map(({ key }) => key);
        const rows = await retryWhileLocked(() => store.kv.getMany(keys));
        for (const [i, { versionstamp }] of rows.entries()) this.#see(some[i]!, versionstamp);
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
    if (polls) this.#forgetOthers(new Set(agents));
  }

  #see({ agentId, key }: { agentId: number; key: Deno.KvKey }, versionstamp: string | null): void {
    const name = key.join("/");
    if (this.#seen.get(name) === versionstamp) return;
    this.#seen.set(name, versionstamp);
    this.options.arrivals.announce(agentId);
  }

  #forgetOthers(waiting: ReadonlySet<number>): void {
    for (const name of this.#seen.keys()) {
      if (!waiting.has(Number(name.slice(name.indexOf("/") + 1)))) this.#seen.delete(name);
    }
  }
}

function startIntervalTicker(tick: () => void, everyMs: number): () => void {
  const timer = setInterval(tick, everyMs);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}
