// Over 300 lines: finding, beginning and ending attempts share one state that nothing else may see.
/**
 * The one leased queue of what leaves the relay by itself. Each thing is a row with a due time. A
 * process leases a row by compare-and-set for an attempt. It then puts the row back, takes it off,
 * or gives it up.
 *
 * Due times are wall-clock times in the store, with an index of them for each destination. The end
 * of an attempt begins the next one; kinds and destinations take turns. A tick each second finds
 * what falls due. Where nothing runs between requests, a cron each minute does. A leased row stands
 * in an index of lease ends instead, so that the rows of a dead process are found. Before the data
 * marker such a row is attempted again. After it the outcome is unknown, and nothing is repeated.
 *
 * While the clock cannot be relied on nothing is begun, and nothing is looked for. Times further ahead than
 * any rule gives come from a clock that was wrong: such rows are due now, and such leases are over.
 */
import type { Log } from "../log.ts";
import { doneWithin } from "../time/done_within.ts";
import { describeFailure } from "../describe_failure.ts";
import type { GroupCommit } from "../storage/commits/group_commit.ts";
import type { LeaseTiming } from "../storage/leases/lease.ts";
import type { RecordCache } from "../storage/commits/record_cache.ts";
import type { Store } from "../storage/rows/store.ts";
import { CLOCK_SKEW_MS } from "../time/clock_skew.ts";
import { type Attempt, deliverRow, type Delivery } from "./deliver_row.ts";
import { FarAhead } from "./far_ahead.ts";
import { moveFormerIndex } from "./former_index.ts";
import { type DueEntry, Lane } from "./lane.ts";
import { Lanes, READ_A_SLOT } from "./lanes.ts";
import { freeAllLeases, freeLeasesThatAreOver, isLeaseOver } from "./leased_rows.ts";
import { makeDueNow } from "./make_due_now.ts";
import { LeaseLost, type OutgoingHandler } from "./outgoing_handler.ts";
import { leasedKey, type OutgoingRow, QUEUED_TOPIC, type QueuedOutgoing } from "./outgoing_row.ts";
import { findEnded } from "./ended_rows.ts";

export const LEASE_MS = 60_000;
const TICK_MS = 1_000;
/** How often a shared store is searched for rows of other processes. */
const SHARED_LOOK_MS = 5_000;
/** Rows that held() looks at; each process holds some tens. */
const MOST_HELD = 2_000;
/** How often rows are searched for whose time is over. */
const ENDS_LOOK_MS = 60_000;
/** How often rows are searched for that are due further ahead than may be, by the monotonic clock. */
const FAR_LOOK_MS = 60_000;

export interface OutgoingQueueOptions {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  log: Log;
  timing?: Partial<LeaseTiming>;
  /** How often the clock is looked at, in ms; 1,000 unless given. */
  tickMs?: number;
}

export class OutgoingQueue {
  readonly #store: Store;
  readonly #log: Log;
  readonly #tickMs: number;
  readonly #delivery: Delivery;
  readonly #lanes = new Lanes();
  readonly #attempts = new Map<string, Attempt>();
  readonly #reads = new Set<Promise<void>>();
  /** Rows that the store did not change just now, and until when they are left alone. */
  readonly #resting = new Map<string, number>();
  readonly #closed = new AbortController();
  #look: Promise<void> | null = null;
  #farLook: Promise<void> | null = null;
  #lookedAtMs = 0;
  /** Before this time no lease ends that belongs to another process. */
  #nextLeaseEndMs = 0;
  /** When rows are searched for next whose time is over. */
  #nextEndsLookMs = 0;
  readonly #farAhead = new FarAhead();
  /** When rows are searched for next that are due too far ahead, by the monotonic clock. */
  #nextFarLookMs = -Infinity;
  /** Whether all rows have been looked at for that. */
  #hasLookedFar = false;
  /** Whether an exclusive store was searched: rows that were added since then were announced. */
  #isKnown = false;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #stopped = false;
  /** Whether lanes that were woken are about to be looked at. */
  #isWoken = false;

  constructor({ store, records, commits, log, timing, tickMs = TICK_MS }: OutgoingQueueOptions) {
    this.#tickMs = tickMs;
    this.#store = store;
    this.#log = log;
    this.#delivery = {
      store,
      records,
      commits,
      log,
      timing: {
        leaseMs: LEASE_MS,
        // All processes of an exclusive store use one clock.
        clockSkewMs: store.exclusive ? 0 : CLOCK_SKEW_MS,
        ...timing,
      },
      closed: this.#closed.signal,
      isStopped: () => this.#stopped,
    };
    commits.listen(QUEUED_TOPIC, (queued) => this.#wake(queued as QueuedOutgoing));
  }

  /** Registers who delivers a kind. Rows of a kind without a handler wait. Call before start(). */
  register<P>(handler: OutgoingHandler<P>): void {
    this.#lanes.register(handler);
  }

  /** Whether nothing may be begun now: the relay ends, or its clock cannot be relied on. */
  get #rests(): boolean {
    return this.#stopped || !this.#store.clock.isSure;
  }

  /** Begins to deliver. On an exclusive store, rows that former processes held are free at once. */
  async start(): Promise<void> {
    if (this.#lanes.kinds === 0) return;
    if (this.#store.exclusive) await freeAllLeases(this.#delivery, this.#freed);
    this.#ticking = setInterval(() => this.#tick(), this.#tickMs);
    Deno.unrefTimer(this.#ticking);
    this.#tick();
  }

  /** Takes notice of a row that was committed. */
  #wake({ id, kind, destination, dueMs }: QueuedOutgoing): void {
    const isBegun = this.#ticking !== undefined && dueMs <= this.#store.now() && !this.#rests;
    if (!isBegun) return this.#lanes.wake(kind, destination, dueMs);
    this.#lanes.take(kind, destination, { id, dueMs });
    if (this.#isWoken) return;
    // A message wakes a lane for each domain: all of them are looked at together.
    this.#isWoken = true;
    queueMicrotask(() => {
      this.#isWoken = false;
      this.#advance();
    });
  }

  /**
   * Ids of the rows that a process holds: their attempts have a slot, or their outcomes are being stored.
   * On a shared store it is read at each call.
   */
  async held(): Promise<ReadonlySet<string>> {
    if (this.#store.exclusive) return new Set(this.#attempts.keys());
    const rows = await this.#store.list({ prefix: leasedKey.under() }, { limit: MOST_HELD });
    return new Set(rows.map(({ key }) => key.at(-1) as string));
  }

  /** Attempts everything that is due and waits until nothing due is left. */
  async run(): Promise<void> {
    if (this.#lanes.kinds === 0 || this.#stopped) return;
    if (!this.#rests) {
      await this.#lookAround();
      await this.#lookFarAhead();
    }
    for (;;) {
      if (this.#stopped) return;
      this.#advance();
      const busy = [...this.#reads, ...[...this.#attempts.values()].map(({ ended }) => ended)];
      if (busy.length === 0) return;
      await Promise.race(busy);
    }
  }

  /** Begins nothing more and gives up what is not handed over yet. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#ticking);
    for (const { abort, handedOver } of this.#attempts.values()) if (!handedOver) abort.abort();
  }

  /** Waits a little for what was handed over; the next start settles the rest. */
  async close(graceMs = 500): Promise<void> {
    this.stop();
    await this.#look?.catch(() => {});
    await this.#farLook?.catch(() => {});
    await Promise.all(this.#reads);
    await doneWithin(Promise.all([...this.#attempts.values()].map(({ ended }) => ended)), graceMs);
    for (const { abort } of this.#attempts.values()) abort.abort();
    this.#closed.abort();
  }

  #tick(): void {
    if (this.#rests) return;
    if (this.#mayKnowTooLittle()) {
      this.#lookAround().then(() => this.#advance(), (error) => this.#logFailure(error));
    }
    this.#lookFarAhead().then(() => this.#advance(), (error) => this.#logFailure(error));
    this.#advance();
  }

  #mayKnowTooLittle(): boolean {
    const nowMs = this.#store.now();
    // After a clock was set back, the remembered times are worth nothing.
    if (nowMs >= this.#nextLeaseEndMs || nowMs < this.#lookedAtMs) return true;
    if (nowMs >= this.#nextEndsLookMs) return true;
    if (this.#store.exclusive) return !this.#isKnown;
    return nowMs >= this.#lookedAtMs + SHARED_LOOK_MS;
  }

  /** Finds what waits in the store. Callers share one search. */
  #lookAround(): Promise<void> {
    return this.#look ??= this.#findAll().finally(() => this.#look = null);
  }

  async #findAll(): Promise<void> {
    const nowMs = this.#store.now();
    // After a leap back some of what waits may be due by the later time.
    if (nowMs < this.#lookedAtMs) this.#nextFarLookMs = -Infinity;
    this.#lookedAtMs = nowMs;
    this.#nextLeaseEndMs = Infinity;
    this.#isKnown = false;
    try {
      await this.#lanes.discover(this.#store);
      this.#advance(); // while rows of former versions are moved
      await this.#moveFormerIndex();
      const isOurs = (id: string) => this.#attempts.has(id);
      const leaseEndMs = await freeLeasesThatAreOver(this.#delivery, isOurs, this.#freed);
      this.#nextLeaseEndMs = Math.min(this.#nextLeaseEndMs, leaseEndMs);
      await this.#attemptEnded();
      this.#isKnown = this.#store.exclusive;
    } catch (error) {
      this.#nextLeaseEndMs = 0; // searched for at the next tick
      throw error;
    }
  }

  /** Callers share one look. */
  #lookFarAhead(): Promise<void> {
    if (this.#store.elapsed() < this.#nextFarLookMs) return Promise.resolve();
    return this.#farLook ??= this.#findFarAhead().finally(() => this.#farLook = null);
  }

  /** Some at each minute; all of them after a start, and within ten minutes of a leap. */
  async #findFarAhead(): Promise<void> {
    const { elapsed, clock } = this.#store;
    const handlerOf = (kind: string) => this.#lanes.handlerOf(kind);
    if (this.#rests) return;
    const isRound = await this.#farAhead.look(this.#delivery, handlerOf, this.#freed)
      .catch((error) => {
        if (this.#rests) return false; // the clock has leapt meanwhile
        throw error;
      });
    this.#hasLookedFar ||= isRound;
    const isUrgent = !isRound && (!this.#hasLookedFar || clock.leaptLately);
    this.#nextFarLookMs = isUrgent ? -Infinity : elapsed() + FAR_LOOK_MS;
  }

  /**
   * Rows whose time is over are attempted even while their destination is lost, or busy: not soon after a
   * leap, within which nothing is given up.
   */
  async #attemptEnded(): Promise<void> {
    const { now, clock } = this.#store;
    if (clock.leaptLately) return void (this.#nextEndsLookMs = now() + ENDS_LOOK_MS);
    const { rows, hasMore } = await findEnded(this.#store, now(), (id) => this.#attempts.has(id));
    this.#nextEndsLookMs = hasMore ? now() : now() + ENDS_LOOK_MS;
    for (const { id, row: { kind, destination = "", dueMs } } of rows) {
      if (this.#rests) return;
      if (this.#lanes.handlerOf(kind) === undefined || this.#attempts.has(id)) continue;
      // A lane of its own: whether the destination can be reached is neither asked nor told, and no slot
      // is waited for.
      const aside = new Lane(kind, destination);
      this.#lanes.began(aside, now());
      this.#attempt(aside, { id, dueMs }, () => {});
    }
  }

  async #moveFormerIndex(): Promise<void> {
    const { exclusive } = this.#store;
    const leases: Deno.KvKey[] = [];
    await moveFormerIndex(this.#store, (indexKey, row) => {
      if (row.lease === null) this.#freed(row);
      else leases.push(indexKey);
    });
    // On an exclusive store no process holds these rows any more: this version indexes its own
    // otherwise.
    const { timing } = this.#delivery;
    const isOver = (row: OutgoingRow) =>
      exclusive ? row.lease !== null : isLeaseOver(row, timing, this.#store.now());
    await Promise.all(leases.map((key) => makeDueNow(this.#delivery, key, isOver, this.#freed)));
  }

  readonly #freed = ({ kind, destination = "", dueMs }: OutgoingRow): void =>
    this.#lanes.wake(kind, destination, dueMs);

  /** Reads what is due and begins attempts while there is room. */
  #advance(): void {
    if (this.#rests) return;
    const nowMs = this.#store.now();
    for (const lane of this.#lanes.wanting(nowMs)) this.#read(lane, nowMs);
    this.#begin(nowMs);
  }

  #read(lane: Lane, nowMs: number): void {
    for (const [id, untilMs] of this.#resting) {
      if (nowMs >= untilMs || nowMs < untilMs - TICK_MS) this.#resting.delete(id);
    }
    const { concurrency } = this.#lanes.handlerOf(lane.kind)!;
    const restUntilMs = (id: string) =>
      this.#attempts.has(id) ? Infinity : this.#resting.get(id) ?? null;
    const read = lane.read(this.#store, nowMs, READ_A_SLOT * concurrency, restUntilMs)
      .then(() => {
        // Processes that share a store should begin with different rows.
        if (!this.#store.exclusive) shuffle(lane.ready);
        this.#lanes.offer(lane);
        this.#begin(this.#store.now());
      }, (error) => this.#logFailure(error))
      .finally(() => this.#reads.delete(read));
    this.#reads.add(read);
  }

  #begin(nowMs: number): void {
    for (;;) {
      if (this.#rests) return;
      const lane = this.#lanes.takeNext(nowMs);
      if (lane === null) return;
      const entry = lane.ready.shift()!;
      if (this.#attempts.has(entry.id)) continue;
      this.#lanes.began(lane, nowMs);
      const slot = this.#lanes.takeSlot(lane, nowMs);
      this.#attempt(lane, entry, (tells) => {
        this.#lanes.giveSlotBack(lane, slot, this.#store.now(), tells);
        this.#begin(this.#store.now());
      });
    }
  }

  #attempt(lane: Lane, entry: DueEntry, giveSlotBack: Attempt["giveSlotBack"]): void {
    const { id } = entry;
    const abort = new AbortController();
    const attempt: Attempt = {
      abort,
      giveSlotBack,
      isTrial: lane.breaker.isOpen,
      handedOver: false,
      ended: Promise.resolve(),
    };
    this.#attempts.set(id, attempt);
    const handler = this.#lanes.handlerOf(lane.kind)!;
    attempt.ended = deliverRow(this.#delivery, lane, entry, handler, attempt)
      .catch((error) => this.#leave(lane, id, error))
      .finally(() => {
        giveSlotBack(false);
        this.#attempts.delete(id);
        this.#lanes.ended(lane);
        // What was put back by way of a lane aside waits in the lane of its destination.
        const { kind, destination, nextDueMs } = lane;
        if (nextDueMs < Infinity) this.#lanes.wake(kind, destination, nextDueMs);
        this.#advance();
      });
  }

  /** A leased row is found when its lease is over; a row without a lease is tried again soon. */
  #leave(lane: Lane, id: string, error: unknown): void {
    if (!(error instanceof LeaseLost)) this.#logFailure(error);
    const nowMs = this.#store.now();
    this.#resting.set(id, nowMs + TICK_MS);
    lane.wake(nowMs + TICK_MS);
    const { leaseMs, clockSkewMs } = this.#delivery.timing;
    this.#nextLeaseEndMs = Math.min(this.#nextLeaseEndMs, nowMs + leaseMs + clockSkewMs);
  }

  #logFailure(error: unknown): void {
    this.#log("outgoing_failed", describeFailure(error));
  }
}

function shuffle<T>(items: T[]): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
}
