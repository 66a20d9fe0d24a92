/**
 * The writer slot of a process on a shared store: a leased number 1..255 in the low bits of its
 * message ids.
 *
 * A slot has two rows. `owner` is written only when the slot changes hands, and every commit with
 * new ids checks it. A process that was suspended beyond its lease therefore cannot commit once
 * another has taken the slot. `lease` is renewed and never checked, or each renewal would fail the
 * groups under way.
 */
import { leaseRuns } from "./lease_runs.ts";
import { passedSince } from "./passed_since.ts";
import { randomId } from "./random_id.ts";
import type { Store } from "./store.ts";
import type { Transaction } from "./transaction.ts";

const SLOT_COUNT = 255;

export interface SlotTiming {
  /** How long a lease lasts unless renewed, in ms. */
  leaseMs: number;
  /**
   * How far hosts' clocks may differ, in ms: a lease is taken over only this long after its end.
   */
  clockSkewMs: number;
}

export const SLOT_TIMING: SlotTiming = { leaseMs: 30_000, clockSkewMs: 5_000 };

interface Owner {
  v: 1;
  holder: string;
}
export interface Lease {
  v: 1;
  untilMs: number;
  /** Version of the floor that all its commits rest on; former versions of the relay know none. */
  floor?: string;
}

export const ownerKey = (slot: number): Deno.KvKey => ["slot", slot, "owner"];
export const leaseKey = (slot: number): Deno.KvKey => ["slot", slot, "lease"];

/** No slot is free: 255 processes hold live leases on this store. */
export class NoFreeSlot extends Error {
  constructor() {
    super(
      `all ${SLOT_COUNT} writer slots of the store are leased; stop a relay, or wait for the lease of a dead one to end`,
    );
  }
}

export class WriterSlot {
  #number = 0;
  #ownerVersion: string | null = null;
  /** Ms since the lease was last made to last its whole length. */
  #passedMs: () => number = () => Infinity;
  #renewal: ReturnType<typeof setInterval> | undefined;
  readonly #holder: string;

  private constructor(private readonly store: Store, private readonly timing: SlotTiming) {
    this.#holder = randomId(store);
  }

  /** Leases a free slot and keeps it renewed. @throws NoFreeSlot */
  static async lease(store: Store, timing: SlotTiming = SLOT_TIMING): Promise<WriterSlot> {
    const slot = new WriterSlot(store, timing);
    await slot.#takeAny();
    slot.#renewal = setInterval(() => void slot.renew().catch(() => {}), timing.leaseMs / 3);
    Deno.unrefTimer(slot.#renewal);
    return slot;
  }

  get number(): number {
    return this.#number;
  }

  /** Changes whenever the slot is taken anew, even if it is the same one. */
  get tenure(): string | null {
    return this.#ownerVersion;
  }

  get checks(): readonly Deno.AtomicCheck[] {
    return [{ key: ownerKey(this.#number), versionstamp: this.#ownerVersion }];
  }

  /** Whether the lease, as this process last renewed it, still runs by both clocks. */
  get isLive(): boolean {
    return this.#passedMs() < this.timing.leaseMs;
  }

  /** Makes sure that a slot is held; leases another if this one was lost. */
  async confirm(): Promise<void> {
    if (await this.#isHeld()) return;
    await this.#takeAny();
  }

  /**
   * Gives the slot back, so that the next process need not wait for the lease to end. If this
   * fails, the next process waits.
   */
  async release(): Promise<void> {
    clearInterval(this.#renewal);
    const number = this.#number;
    await this.#whileHeld((transaction) => {
      transaction.delete(ownerKey(number));
      transaction.delete(leaseKey(number));
    }).catch(() => {});
  }

  async #isHeld(): Promise<boolean> {
    if (!this.isLive) return await this.renew();
    const tenure = this.#ownerVersion;
    return (await this.store.get(ownerKey(this.#number))).versionstamp === tenure;
  }

  /** Renews the lease, and says in it what is known now. @returns false when the slot was lost */
  async renew(): Promise<boolean> {
    const tenure = this.#ownerVersion;
    const number = this.#number;
    const passedMs = passedSince(this.store);
    const untilMs = this.store.now() + this.timing.leaseMs;
    await this.store.floor.learn();
    const held = await this.#whileHeld((transaction) =>
      transaction.set(leaseKey(number), this.#leaseUntil(untilMs))
    );
    if (tenure === this.#ownerVersion) this.#passedMs = held ? passedMs : () => Infinity;
    return held;
  }

  /** Stores something if the slot is held in the same tenure. @returns false when it was lost */
  #whileHeld(write: (transaction: Transaction) => void): Promise<boolean> {
    const tenure = this.#ownerVersion;
    const key = ownerKey(this.#number);
    return this.store.transact(async (transaction) => {
      if ((await transaction.get(key)).versionstamp !== tenure) return false;
      write(transaction);
      return true;
    });
  }

  #leaseUntil(untilMs: number): Lease {
    return { v: 1, untilMs, floor: this.store.floor.acknowledged };
  }

  async #takeAny(): Promise<void> {
    const start = this.store.random(1)[0]! % SLOT_COUNT;
    for (let step = 0; step < SLOT_COUNT; step++) {
      if (await this.#take(1 + (start + step) % SLOT_COUNT)) return;
    }
    throw new NoFreeSlot();
  }

  async #take(number: number): Promise<boolean> {
    const { store } = this;
    const passedMs = passedSince(store);
    const isFree = await store.transact(async (transaction) => {
      const keys = [ownerKey(number), leaseKey(number)] as const;
      const [owner, lease] = await transaction.getMany<[Owner, Lease]>(keys);
      const nowMs = store.now();
      const { leaseMs: lengthMs, clockSkewMs: skewMs } = this.timing;
      const isHeld = owner.value !== null &&
        leaseRuns(lease.value?.untilMs ?? 0, { lengthMs, skewMs }, nowMs);
      if (isHeld) return false;
      const untilMs = nowMs + lengthMs;
      transaction.set(keys[0], { v: 1, holder: this.#holder } satisfies Owner);
      transaction.set(keys[1], this.#leaseUntil(untilMs));
      return true;
    });
    if (!isFree) return false;
    const owner = await store.get<Owner>(ownerKey(number));
    if (owner.value?.holder !== this.#holder) return false; // another has it since
    await store.floor.learn(); // after the slot is ours: whoever raises it later sees the lease
    this.#number = number;
    this.#ownerVersion = owner.versionstamp;
    this.#passedMs = passedMs;
    return true;
  }
}
