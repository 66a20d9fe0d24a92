/** Who waits at the mailboxes of one kind: registers here, and is woken when a change is committed. */
import type { Semaphore } from "../bounds/semaphore.ts";
import { type RecordCache, recordName } from "../storage/commits/record_cache.ts";
import type { RecordKey } from "../storage/commits/record_key.ts";
import type { Head, MailboxKind } from "./mailbox_kind.ts";
import { type WaitBounds, type WaitEnd, Waiter } from "./waiter.ts";
import { wakeShardOf } from "./wake_marks.ts";

/** A mailbox with waiters. */
export interface WaitedMailbox<R, H extends Head> {
  readonly key: RecordKey<R>;
  readonly name: string;
  readonly shard: number;
  readonly waiters: Set<Waiter<H>>;
}

/** How waiting for a head has ended; "full" where no place was free. */
export type HeadOutcome<H extends Head> =
  | { ended: "above"; head: H }
  | { ended: WaitEnd | "full" };

export interface MailboxWaitsOptions<R, H extends Head> {
  kind: MailboxKind<R, H>;
  records: Pick<RecordCache, "read">;
  /** Shared by all waiters of one process, at mailboxes of any kind. */
  places: Semaphore;
  /** Called whenever a wait begins while there is no other. */
  onFirst(): void;
}

export class MailboxWaits<R, H extends Head> {
  readonly #mailboxes = new Map<string, WaitedMailbox<R, H>>();
  #closed = false;

  constructor(private readonly options: MailboxWaitsOptions<R, H>) {}

  /**
   * Begins a wait at a mailbox. A caller that reads the mailbox afterwards and then awaits next()
   * misses nothing; it ends the waiter whatever happens.
   * @returns null where no place is free: the caller then answers without waiting
   */
  open(mailbox: RecordKey<R>, bounds: WaitBounds = {}): Waiter<H> | null {
    const { places } = this.options;
    const giveBack = places.tryTake();
    if (giveBack === null) return null;
    const name = recordName(mailbox);
    const waiter = new Waiter<H>(bounds, (waiter) => {
      giveBack();
      const waited = this.#mailboxes.get(name);
      if (waited?.waiters.delete(waiter) && waited.waiters.size === 0) this.#mailboxes.delete(name);
    });
    if (this.#closed) waiter.finish("stopped");
    else if (!waiter.isOver) this.#register(mailbox, name, waiter);
    return waiter;
  }

  #register(key: RecordKey<R>, name: string, waiter: Waiter<H>): void {
    const waited = this.#mailboxes.get(name);
    if (waited !== undefined) {
      waited.waiters.add(waiter);
      return;
    }
    const shard = wakeShardOf(key);
    this.#mailboxes.set(name, { key, name, shard, waiters: new Set([waiter]) });
    if (this.#mailboxes.size === 1) this.options.onFirst();
  }

  /**
   * Waits until the head of a mailbox is above one, null meaning any head, or the wait is over.
   * Callers that filter what they read hold a waiter of open() instead, and read at each change.
   */
  async untilAbove(
    mailbox: RecordKey<R>,
    head: H | null,
    bounds: WaitBounds,
  ): Promise<HeadOutcome<H>> {
    const waiter = this.open(mailbox, bounds);
    if (waiter === null) return { ended: "full" };
    try {
      for (;;) {
        const record = await this.options.records.read<R>(mailbox);
        const found = record === null ? null : this.options.kind.headOf(record);
        if (found !== null && (head === null || found > head)) {
          return { ended: "above", head: found };
        }
        waiter.hasRead(found);
        const outcome = await waiter.next();
        if (outcome !== "changed") return { ended: outcome };
      }
    } finally {
      waiter.end();
    }
  }

  /** A change of the mailbox was committed, or may have been: wakes all that wait at it in this process. */
  announce(mailbox: RecordKey<R>): void {
    if (this.#mailboxes.size === 0) return;
    const waited = this.#mailboxes.get(recordName(mailbox));
    if (waited !== undefined) { for (const waiter of waited.waiters) waiter.wake(); }
  }

  /** Mailboxes that somebody waits at. */
  mailboxes(): IterableIterator<WaitedMailbox<R, H>> {
    return this.#mailboxes.values();
  }

  /** Whether there are no waiters. */
  get isIdle(): boolean {
    return this.#mailboxes.size === 0;
  }

  /** Ends every wait; later ones are over as they begin. */
  close(): void {
    this.#closed = true;
    for (const { waiters } of [...this.#mailboxes.values()]) {
      for (const waiter of [...waiters]) waiter.finish("stopped");
    }
  }
}
