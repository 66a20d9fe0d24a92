/** All that waits in one process, at mailboxes of any kind, within one bound. */
import { Semaphore } from "../bounds/semaphore.ts";
import type { GroupCommit } from "../storage/commits/group_commit.ts";
import type { RecordCache } from "../storage/commits/record_cache.ts";
import type { Store } from "../storage/rows/store.ts";
import type { StartTicker } from "../time/ticker.ts";
import type { Head, MailboxKind } from "./mailbox_kind.ts";
import { MailboxWaits } from "./mailbox_waits.ts";
import { Wake } from "./wake.ts";
import { markWakes } from "./wake_marks.ts";

export interface WaitsOptions {
  store: Store;
  records: Pick<RecordCache, "read" | "peek">;
  commits: Pick<GroupCommit, "annotateGroups">;
  /** How many waiters there may be, of all kinds together. */
  bound: number;
  /** Whether a watch reports other processes' writes: on a KV server, not on a shared file. */
  watchable: boolean;
  startTicker?: StartTicker;
}

export class Waits {
  readonly #places: Semaphore;
  readonly #kinds: { close(): void }[] = [];
  #closed = false;

  constructor(private readonly options: WaitsOptions) {
    this.#places = new Semaphore({ permits: options.bound });
  }

  /** Waiters now, of all kinds. */
  get size(): number {
    return this.#places.countOf();
  }

  /**
   * Lets the mailboxes of one kind be waited at. On a shared store all groups of commits mark from
   * then on what they change.
   */
  at<R, H extends Head>(kind: MailboxKind<R, H>): MailboxWaits<R, H> {
    const { store, records, commits } = this.options;
    if (!store.exclusive) commits.annotateGroups(markWakes(kind));
    const places = this.#places;
    const waits = new MailboxWaits({ kind, records, places, onFirst: () => wake.begin() });
    const wake = new Wake({ ...this.options, kind, waits });
    const close = () => {
      waits.close();
      wake.close();
    };
    if (this.#closed) close();
    else this.#kinds.push({ close });
    return waits;
  }

  /** Ends every wait; later ones are over as they begin. */
  close(): void {
    this.#closed = true;
    for (const kind of this.#kinds) kind.close();
  }
}
