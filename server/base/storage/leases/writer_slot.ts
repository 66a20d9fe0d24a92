/**
 * The writer slot of a process on a shared store: a leased number 1..255 in the low bits of its
 * message ids.
 *
 * A slot has two rows. `owner` is written only when the slot changes hands, and every commit with
 * new ids checks it. A process that was suspended beyond its lease therefore cannot commit once
 * another has taken the slot. `lease` is renewed and never checked, or each renewal would fail the
 * groups under way.
 */
import { CLOCK_SKEW_MS } from "../../time/clock_skew.ts";
import { Lease, type LeaseTiming } from "./lease.ts";
import { randomId } from "../rows/random_id.ts";
import type { Store } from "../rows/store.ts";
import { defineRow } from "../rows/row_key.ts";

const SLOT_COUNT = 255;

export const SLOT_TIMING: LeaseTiming = { leaseMs: 30_000, clockSkewMs: CLOCK_SKEW_MS };

interface OwnerRow {
  v: 1;
  holder: string;
}
export interface SlotLeaseRow {
  v: 1;
  untilMs: number;
  /** Version of the floor that all its commits rest on; former versions of the relay know none. */
  floor?: string;
}

export const slotOwnerKey = defineRow<[slot: number, name: "owner"]>(["slot"], 2, {
  holds: "holder of a slot on a shared store",
});
const slotLeaseKey = defineRow<[slot: number, name: "lease"]>(["slot"], 2, {
  holds: "end of the lease of a slot, and which floor of signatures its commits rest on",
});

/** Keys of a slot's rows. */
export function slotKeys(slot: number): readonly [owner: Deno.KvKey, lease: Deno.KvKey] {
  return [slotOwnerKey(slot, "owner"), slotLeaseKey(slot, "lease")];
}

/** No slot is free: 255 processes hold live leases on this store. */
export class NoFreeSlot extends Error {
  constructor() {
    super(
      `all ${SLOT_COUNT} writer slots of the store are leased; stop a relay, or wait for the lease of a dead one to end`,
    );
  }
}

interface Held {
  number: number;
  ownerVersion: string;
  lease: Lease<OwnerRow>;
}

export class WriterSlot {
  #held!: Held;
  #renewal: ReturnType<typeof setInterval> | undefined;
  readonly #holder: string;

  private constructor(private readonly store: Store, private readonly timing: LeaseTiming) {
    this.#holder = randomId(store);
  }

  /** Leases a free slot and keeps it renewed. @throws NoFreeSlot */
  static async lease(store: Store, timing: LeaseTiming = SLOT_TIMING): Promise<WriterSlot> {
    const slot = new WriterSlot(store, timing);
    await slot.#takeAny();
    slot.#renewal = setInterval(() => void slot.renew().catch(() => {}), timing.leaseMs / 3);
    Deno.unrefTimer(slot.#renewal);
    return slot;
  }

  get number(): number {
    return this.#held.number;
  }

  /** Changes whenever the slot is taken again, even if it is the same one. */
  get tenure(): string {
    return this.#held.ownerVersion;
  }

  get checks(): readonly Deno.AtomicCheck[] {
    return [{ key: slotKeys(this.number)[0], versionstamp: this.tenure }];
  }

  /** Whether the lease, as this process last renewed it, still runs by both clocks. */
  get isLive(): boolean {
    return this.#held.lease.isLive;
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
    await this.#held.lease.release().catch(() => {});
  }

  async #isHeld(): Promise<boolean> {
    if (!this.isLive && !await this.renew()) return false;
    // Also then: a taking of the same slot whose answer was lost has begun another tenure.
    const { number, ownerVersion } = this.#held;
    return (await this.store.get(slotKeys(number)[0])).versionstamp === ownerVersion;
  }

  /** Renews the lease and the floor known in it. @returns false when the slot was lost */
  async renew(): Promise<boolean> {
    const { lease } = this.#held;
    await this.store.floor.learn();
    return await lease.renew();
  }

  async #takeAny(): Promise<void> {
    const start = this.store.random(1)[0]! % SLOT_COUNT;
    for (let step = 0; step < SLOT_COUNT; step++) {
      if (await this.#take(1 + (start + step) % SLOT_COUNT)) return;
    }
    throw new NoFreeSlot();
  }

  async #take(number: number): Promise<boolean> {
    const { store, timing } = this;
    const keys = slotKeys(number);
    const holder = this.#holder;
    const lease = new Lease<OwnerRow>(store, {
      keys,
      isOurs: (owner) => owner.holder === holder,
      until: (untilMs) => [
        { v: 1, holder } satisfies OwnerRow,
        { v: 1, untilMs, floor: store.floor.acknowledged } satisfies SlotLeaseRow,
      ],
    }, timing);
    if (!await lease.take()) return false;
    const owner = await store.get<OwnerRow>(keys[0]);
    if (owner.value?.holder !== holder) return false; // another process took it since
    await store.floor.learn(); // after the slot is ours: a process that raises it later sees the lease
    this.#held = { number, ownerVersion: owner.versionstamp!, lease };
    return true;
  }
}
