/** All destinations that rows wait for. Decides which one is next and what to read for it. */
import type { Row } from "../storage/rows/rows.ts";
import type { Store } from "../storage/rows/store.ts";
import { type DueEntry, Lane } from "./lane.ts";
import type { OutgoingHandler } from "./outgoing_handler.ts";
import { laneKey } from "./outgoing_row.ts";
import { CircuitBreaker } from "./circuit_breaker.ts";
import { type RunningAttempt, Shares } from "./shares.ts";

/** For so long a look at all lanes holds; in between only those are looked at that are due before its end. */
const LOOK_MS = 60_000;

/** The lanes of one kind. */
class LanesOfKind {
  readonly #byDestination = new Map<string, Lane>();
  /**
   * Those with something to do before the end of a look: an org chooses how many destinations wait, for a
   * day each.
   */
  readonly #near = new Set<Lane>();
  #lookedAtMs = -Infinity;
  /**
   * Lanes with rows in memory, by their orgs or, where there are none, by themselves. An org that had its
   * turn goes to the end, and so does a lane among its org's.
   */
  readonly rotation = new Map<string, Set<Lane>>();
  /** Rows in hand: being leased, being attempted, or having their outcome stored. */
  running = 0;
  readonly shares: Shares;
  /** The breaker of the one next hop behind all destinations. */
  readonly breaker: CircuitBreaker | undefined;

  // deno-lint-ignore no-explicit-any -- the handler alone knows its payload
  constructor(readonly handler: OutgoingHandler<any>, nextHop: CircuitBreaker) {
    this.shares = new Shares(handler.concurrency);
    this.breaker = handler.oneNextHop ? nextHop : undefined;
  }

  wake(destination: string, dueMs: number): void {
    const lane = this.#laneOf(destination);
    lane.wake(dueMs);
    if (this.#isNear(lane)) this.#near.add(lane);
  }

  /** Takes a row that is due and was stored just now, where nothing waits before it and there is room. */
  take(destination: string, entry: DueEntry): void {
    const lane = this.#laneOf(destination);
    const ofOrg = this.rotation.get(groupOf(lane));
    const isRoom = ofOrg === undefined || ofOrg.has(lane) || ofOrg.size < LOADED_OF_ORG;
    if (!isRoom || !lane.take(entry, READ_A_SLOT * this.handler.concurrency)) {
      return this.wake(destination, entry.dueMs);
    }
    this.offer(lane);
    this.#near.add(lane);
  }

  #laneOf(destination: string): Lane {
    const known = this.#byDestination.get(destination);
    if (known !== undefined) return known;
    const parties = this.handler.partiesOf?.(destination);
    const lane = new Lane(this.handler.kind, destination, parties, this.breaker);
    this.#byDestination.set(destination, lane);
    return lane;
  }

  /** Every lane that may want to be read by now. Empty lanes are dropped. */
  near(nowMs: number): Iterable<Lane> {
    const isOver = nowMs < this.#lookedAtMs || nowMs >= this.#lookedAtMs + LOOK_MS;
    if (isOver) this.#lookedAtMs = nowMs;
    for (const lane of isOver ? this.#byDestination.values() : this.#near) {
      if (lane.isEmpty) this.#byDestination.delete(lane.destination);
      if (this.#isNear(lane)) this.#near.add(lane);
      else this.#near.delete(lane);
    }
    return this.#near;
  }

  #isNear(lane: Lane): boolean {
    return !lane.isIdle || lane.nextDueMs < this.#lookedAtMs + LOOK_MS;
  }

  offer(lane: Lane): void {
    const group = groupOf(lane);
    const lanes = this.rotation.get(group);
    if (lanes === undefined) this.rotation.set(group, new Set([lane]));
    else lanes.add(lane);
  }

  /** Takes a lane that had its turn from its place, to the end where it has more rows. */
  passOn(lane: Lane): void {
    const group = groupOf(lane);
    const lanes = this.rotation.get(group)!;
    lanes.delete(lane);
    if (lane.ready.length > 1) lanes.add(lane);
    this.rotation.delete(group);
    if (lanes.size > 0) this.rotation.set(group, lanes);
  }

  /** The lane whose turn it is. */
  next(nowMs: number): Lane | null {
    if (this.shares.held >= this.shares.slots) return null;
    for (const lanes of this.rotation.values()) {
      for (const lane of lanes) {
        if (lane.breaker.mayTry(nowMs) && this.shares.admits(lane.parties, nowMs)) return lane;
      }
    }
    return null;
  }
}

const groupOf = ({ destination, parties: { org } }: Lane): string => org ?? destination;

/** Rows of a lane in memory for each slot. */
export const READ_A_SLOT = 4;

/** Rows in hand for each slot: while some are attempted, others have their outcome stored. */
const IN_HAND_A_SLOT = 2;

/** Lanes of an org whose first rows are in memory: it may have mail for thousands of domains. */
const LOADED_OF_ORG = 16;

/**
 * Rows that a read of a search for destinations takes: some destinations have many rows. Where each row is
 * of another one, the next read takes twice as many.
 */
const DISCOVERED = 20;
const DISCOVERED_MOST = 500;

export class Lanes {
  readonly #kinds = new Map<string, LanesOfKind>();
  /** Whether there is a way to the one next hop: what a mail of one kind finds holds for all. */
  readonly #nextHop = new CircuitBreaker();

  // deno-lint-ignore no-explicit-any -- the handler alone knows its payload
  register(handler: OutgoingHandler<any>): void {
    this.#kinds.set(handler.kind, new LanesOfKind(handler, this.#nextHop));
  }

  get kinds(): number {
    return this.#kinds.size;
  }

  // deno-lint-ignore no-explicit-any -- the handler alone knows its payload
  handlerOf(kind: string): OutgoingHandler<any> | undefined {
    return this.#kinds.get(kind)?.handler;
  }

  /**
   * Records that a row with this due time waits. Rows of a kind without a handler are left alone.
   */
  wake(kind: string, destination: string, dueMs: number): void {
    this.#kinds.get(kind)?.wake(destination, dueMs);
  }

  /** The same of a row that is due and was stored just now. */
  take(kind: string, destination: string, entry: DueEntry): void {
    this.#kinds.get(kind)?.take(destination, entry);
  }

  /** Lanes whose rows should be read now, some of each org. */
  *wanting(nowMs: number): Generator<Lane> {
    for (const lanes of this.#kinds.values()) {
      const near = lanes.near(nowMs);
      const loaded = new Map<string, number>();
      const count = (group: string) => loaded.set(group, (loaded.get(group) ?? 0) + 1);
      for (const lane of near) {
        if (lane.reading || lane.ready.length > 0) count(groupOf(lane));
      }
      for (const lane of near) {
        if (!lane.wants(nowMs) || (loaded.get(groupOf(lane)) ?? 0) >= LOADED_OF_ORG) continue;
        count(groupOf(lane));
        yield lane;
      }
    }
  }

  /** The lane has rows in memory from now on. */
  offer(lane: Lane): void {
    if (lane.ready.length > 0) this.#kinds.get(lane.kind)!.offer(lane);
  }

  /** Gives a lane whose next row may be attempted now; kinds, orgs and destinations take turns. */
  takeNext(nowMs: number): Lane | null {
    for (const lanes of this.#kinds.values()) {
      if (lanes.running >= IN_HAND_A_SLOT * lanes.handler.concurrency) continue;
      const lane = lanes.next(nowMs);
      if (lane === null) continue;
      lanes.passOn(lane);
      return lane;
    }
    return null;
  }

  began(lane: Lane, nowMs: number): void {
    lane.running++;
    lane.breaker.began(nowMs);
    this.#kinds.get(lane.kind)!.running++;
  }

  /** Takes the slot of an attempt that a lane begins. */
  takeSlot({ kind, parties }: Lane, nowMs: number): RunningAttempt {
    return this.#kinds.get(kind)!.shares.take(parties, nowMs);
  }

  /** @param tells whether what it took says something of its parties */
  giveSlotBack({ kind }: Lane, slot: RunningAttempt, nowMs: number, tells: boolean): void {
    this.#kinds.get(kind)!.shares.giveBack(slot, nowMs, tells);
  }

  ended(lane: Lane): void {
    lane.running--;
    this.#kinds.get(lane.kind)!.running--;
  }

  /**
   * Finds the destinations that rows in the store wait for. Reads a few rows of each, however many
   * wait.
   */
  async discover(store: Pick<Store, "list">): Promise<void> {
    for (const kind of this.#kinds.keys()) {
      const prefix = laneKey.under(kind);
      let selector: Deno.KvListSelector = { prefix };
      for (let limit = DISCOVERED;;) {
        const rows: Row<unknown>[] = await store.list(selector, { limit });
        for (const { key } of rows) this.wake(kind, key[2] as string, key[3] as number);
        if (rows.length < limit) break;
        const destinations = new Set(rows.map(({ key }) => key[2])).size;
        limit = destinations > limit / 2 ? Math.min(DISCOVERED_MOST, 2 * limit) : DISCOVERED;
        // A key after every number: the end of the last destination's rows.
        selector = { prefix, start: [...prefix, rows.at(-1)!.key[2]!, true] };
      }
    }
  }
}
