/**
 * Wakes those that wait for what other processes have committed, and every 10 s for whatever a wake-up
 * was lost for. Within a process the commit itself wakes (mailbox_waits.ts). Nothing runs while nobody
 * waits.
 */
import type { RecordCache } from "../storage/commits/record_cache.ts";
import type { Store } from "../storage/rows/store.ts";
import { startIntervalTicker, type StartTicker } from "../time/ticker.ts";
import type { Head, MailboxKind } from "./mailbox_kind.ts";
import { MailboxSweeps } from "./mailbox_sweeps.ts";
import type { MailboxWaits } from "./mailbox_waits.ts";
import { MarkWatch } from "./mark_watch.ts";
import { Pause } from "./pause.ts";
import { ALL_SHARDS } from "./wake_marks.ts";

export interface WakeOptions<R, H extends Head> {
  store: Store;
  kind: MailboxKind<R, H>;
  waits: MailboxWaits<R, H>;
  /** Records in memory: the truth on an exclusive store, not asked for on a shared one. */
  records: Pick<RecordCache, "peek">;
  /** Whether a watch reports other processes' writes: on a KV server, not on a shared file. */
  watchable: boolean;
  startTicker?: StartTicker;
}

/** Every so many ticks all waited mailboxes are looked at, whatever the marks say. */
const TICKS_OF_A_ROUND = 10;
/** Mailboxes that are woken before others have their turn: each waiter reads at once. */
const WOKEN_TOGETHER = 200;

export class Wake<R, H extends Head> {
  readonly #startTicker: StartTicker;
  #stopTicker: (() => void) | null = null;
  #ticks = 0;
  /** What follows other processes; null on an exclusive store. */
  readonly #others: { marks: MarkWatch; sweeps: MailboxSweeps<R, H> } | null;
  #isAnnouncing = false;
  readonly #pause = new Pause();
  #closed = false;

  constructor(private readonly options: WakeOptions<R, H>) {
    this.#startTicker = options.startTicker ?? startIntervalTicker;
    const { store, kind, waits, watchable } = options;
    if (store.exclusive) this.#others = null;
    else {
      const sweeps = new MailboxSweeps({ store, kind, waits });
      const changed = (shards: readonly number[]) => sweeps.request(shards);
      const marks = new MarkWatch({ store, marks: kind.marks, watchable, changed });
      this.#others = { marks, sweeps };
    }
  }

  /** The first waiter begins to wait. */
  begin(): void {
    if (this.#stopTicker !== null || this.#closed) return;
    this.#ticks = 0;
    this.#stopTicker = this.#startTicker(() => this.#tick());
    this.#others?.sweeps.begin();
    this.#others?.marks.begin();
  }

  /** Stops for good. */
  close(): void {
    this.#closed = true;
    this.#rest();
  }

  #rest(): void {
    this.#stopTicker?.();
    this.#stopTicker = null;
    this.#pause.end();
    this.#others?.marks.rest();
    this.#others?.sweeps.rest();
  }

  #tick(): void {
    if (this.options.waits.isIdle) return this.#rest();
    const isRound = ++this.#ticks % TICKS_OF_A_ROUND === 0;
    if (this.#others === null) {
      if (isRound && !this.#isAnnouncing) void this.#announceUnread();
      return;
    }
    const { marks, sweeps } = this.#others;
    sweeps.tick();
    if (isRound) sweeps.request(ALL_SHARDS, true);
    marks.tick();
  }

  /** Wakes, some at a time, every waiter whose mailbox is newer in memory than it has read, or not in memory. */
  async #announceUnread(): Promise<void> {
    const { kind, waits, records } = this.options;
    this.#isAnnouncing = true;
    const mailboxes = [...waits.mailboxes()];
    for (let at = 0; at < mailboxes.length && this.#stopTicker !== null; at += WOKEN_TOGETHER) {
      if (at > 0) await this.#pause.begin(0);
      for (const { name, waiters } of mailboxes.slice(at, at + WOKEN_TOGETHER)) {
        const record = records.peek(name)?.value as R | null | undefined;
        const head = record === null || record === undefined ? undefined : kind.headOf(record);
        for (const waiter of waiters) if (waiter.headRead !== head) waiter.wake();
      }
    }
    this.#isAnnouncing = false;
  }
}
