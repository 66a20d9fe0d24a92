/**
 * Message ids: (ms since 2025) * 4096 with the writer slot in the low 8 bits. They ascend in every
 * mailbox and are unique in the store (docs/adr/0005).
 */
import { unavailable } from "../../errors.ts";
import { MAX_ID } from "../../bounds/max_id.ts";
import { isLate, StoreFailed } from "../rows/call_deadline.ts";
import { impossibleClock, isImpossible } from "../rows/clock_watch.ts";
import type { Store } from "../rows/store.ts";
import { NoFreeSlot, type WriterSlot } from "../leases/writer_slot.ts";
import { defineRow } from "../rows/row_key.ts";

/** 2025-01-01T00:00:00Z. */
export const ID_EPOCH_MS = 1_735_689_600_000;
const IDS_PER_MS = 4096;
const SLOTS = 256;
/** How far above the last id the stored ceiling is set, in ms of ids. */
const CEILING_AHEAD_MS = 20_000;
/** A new ceiling is stored in the background once less than this is left. */
const CEILING_LOW_MS = 10_000;
const RAISE_ATTEMPTS = 10;
const CONFIRM_ATTEMPTS = 4;
/** What a caller is told to wait where only a person can mend it. */
const ID_RETRY_MS = 60_000;

/** The smallest id that a message created at this time can have. */
export function lowestIdAt(createdAtMs: number): number {
  return Math.max(1, (createdAtMs - ID_EPOCH_MS) * IDS_PER_MS);
}

/** The same of a clock: no id follows from one that is wrong by decades, and would stand for good. */
function lowestIdBy(nowMs: number): number {
  return isImpossible(nowMs) ? 1 : lowestIdAt(nowMs);
}

/** The smallest id greater than `floor` whose low 8 bits are the slot. Bit operators would overflow. */
export function nextIdInSlot(floor: number, slot: number): number {
  const candidate = floor - (floor % SLOTS) + slot;
  return candidate > floor ? candidate : candidate + SLOTS;
}

/** An id above the stored ceiling was asked for: the group waits until the ceiling is raised. */
export class CeilingReached extends Error {}

const ceilingKey = defineRow<[slot: number, name: "ceiling"]>(["slot"], 2, {
  holds: "message id that this writer slot has not passed",
});

/**
 * Gives the ids of one writer slot. The store holds a ceiling that no id passes. The next holder of
 * the slot, or this relay after a crash, therefore starts above every id ever given. That holds for
 * any jump of the clock.
 */
export class IdSequence {
  /** The slot, and the tenure of it, that #last and #ceiling belong to. */
  #number: number;
  #tenure: string | null;
  #last = 0;
  #ceiling = 0;
  #needed = 0;
  /** The ceiling of an attempt that was reported as failed: if the store holds it, it is ours. */
  #tried: number | null = null;
  #raising: Promise<void> | null = null;
  #doubted = false;

  private constructor(private readonly store: Store, private readonly slot: WriterSlot | null) {
    this.#number = slot?.number ?? 0;
    this.#tenure = slot?.tenure ?? null;
  }

  /** Opens the sequence of a leased slot, or of slot 0 where the store is exclusive (slot null). */
  static async open(store: Store, slot: WriterSlot | null): Promise<IdSequence> {
    const sequence = new IdSequence(store, slot);
    await sequence.restore();
    return sequence;
  }

  /** What the operator is told where no id is left, null otherwise. */
  get note(): string | null {
    return nextIdInSlot(this.#last, this.#number) > MAX_ID ? USED_UP : null;
  }

  /** The checks that every commit with new ids carries: the slot is still ours. */
  get checks(): readonly Deno.AtomicCheck[] {
    return this.slot?.checks ?? [];
  }

  /**
   * Whether ids may be given now: below the ceiling and under a live lease.
   * Stores a higher ceiling in the background before the present one is reached.
   */
  ready(nowMs: number): boolean {
    if (this.#doubted || !this.#holdsSlot()) return false;
    const next = Math.max(this.#last, this.#needed, lowestIdBy(nowMs));
    if (next + IDS_PER_MS * 1000 > MAX_ID) return true; // next() refuses
    if (next + IDS_PER_MS * 1000 > this.#ceiling) return false;
    if (next + IDS_PER_MS * CEILING_LOW_MS > this.#ceiling && this.#raising === null) {
      this.#raising = this.#raise(next).catch(() => {}).finally(() => this.#raising = null);
    }
    return true;
  }

  #holdsSlot(): boolean {
    return this.slot === null || (this.slot.tenure === this.#tenure && this.slot.isLive);
  }

  /**
   * The next id above `above`.
   * @throws CeilingReached; RelayError `unavailable` by an impossible clock, and where it would be
   * greater than the API's ids
   */
  next(above: number, nowMs: number): number {
    if (isImpossible(nowMs)) throw impossibleClock();
    const floor = Math.max(above, this.#last, lowestIdAt(nowMs) - 1);
    const id = nextIdInSlot(floor, this.#number);
    if (id > MAX_ID) throw idsUsedUp();
    if (id > this.#ceiling) {
      this.#needed = Math.max(this.#needed, id);
      throw new CeilingReached();
    }
    this.#last = id;
    return id;
  }

  /**
   * Called when a commit failed and no record explains it: on a shared store the slot may have been
   * taken over.
   */
  doubt(): void {
    if (this.slot !== null) this.#doubted = true;
  }

  /** Makes ids available again: confirms or newly leases the slot and raises the ceiling. */
  async restore(): Promise<void> {
    await this.#raising;
    await this.#confirmSlot();
    this.#doubted = false;
    if (this.#ceiling === 0 || !this.ready(this.store.now())) {
      await this.#raise(Math.max(this.#last, this.#needed, lowestIdBy(this.store.now())));
    }
  }

  async #confirmSlot(): Promise<void> {
    if (this.slot === null) return;
    await confirmRepeatedly(this.slot);
    if (this.slot.tenure === this.#tenure) return;
    // For another slot, or for this one after another holder, the stored ceiling counts.
    this.#number = this.slot.number;
    this.#tenure = this.slot.tenure;
    this.#last = 0;
    this.#ceiling = 0;
    this.#needed = 0;
    this.#tried = null;
  }

  async #raise(atLeast: number): Promise<void> {
    let cause: unknown;
    for (let attempt = 0; attempt < RAISE_ATTEMPTS; attempt++) {
      try {
        if (await this.#tryRaise(atLeast)) return;
        await this.#confirmSlot();
      } catch (error) {
        if (isLate(error)) throw error;
        cause = error;
        if (!(error instanceof StoreFailed)) break;
        // The next attempt reads whether it was stored all the same.
      }
    }
    throw new Error("the id ceiling could not be stored", { cause });
  }

  /** @returns false when the slot was lost */
  async #tryRaise(atLeast: number): Promise<boolean> {
    const { checks } = this;
    const key = ceilingKey(this.#number, "ceiling");
    const isHeld = await this.store.transact(async (transaction) => {
      const [stored, ...held] = await transaction.getMany<[number, ...unknown[]]>(
        [key, ...checks.map((check) => check.key)],
      );
      if (held.some(({ versionstamp }, i) => versionstamp !== checks[i]!.versionstamp)) {
        return false;
      }
      const known = stored.value ?? 0;
      if (known !== this.#tried) {
        // When a slot is opened, its former ids may have come up to the stored ceiling.
        if (this.#ceiling === 0) this.#last = Math.max(this.#last, known);
        const floor = Math.max(known, atLeast, this.#last);
        this.#tried = Math.min(MAX_ID, floor + IDS_PER_MS * CEILING_AHEAD_MS);
        transaction.set(key, this.#tried);
      }
      return true;
    });
    if (!isHeld) return false;
    this.#ceiling = this.#tried!;
    this.#tried = null;
    return true;
  }
}

const USED_UP =
  "the ids of messages are used up, since a clock once stood after 2090: nothing can be sent on this " +
  "store any more, and its operator has to restore a backup from before";

function idsUsedUp() {
  return unavailable(USED_UP, ID_RETRY_MS);
}

/** One lost answer of the store must not refuse every job that waits for an id. */
async function confirmRepeatedly(slot: WriterSlot): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      return await slot.confirm();
    } catch (error) {
      const isFinal = error instanceof NoFreeSlot || isLate(error);
      if (isFinal || attempt === CONFIRM_ATTEMPTS) throw error;
    }
  }
}
