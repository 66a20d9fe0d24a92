/** All destinations that rows wait for. Decides which one is next and what to read for it. */
import { listRows } from "../storage/list_rows.ts";
import { Lane } from "./lane.ts";
import type { OutgoingHandler } from "./outgoing_handler.ts";
import { LANE_PREFIX } from "./outgoing_row.ts";
import { Reach } from "./reach.ts";
import { Slots } from "./slots.ts";

/** The lanes of one kind. */
class LanesOfKind {
  readonly byDestination = new Map<string, Lane>();
  /** Lanes with rows in memory; a lane that had its turn goes to the end. */
  readonly rotation = new Set<Lane>();
  /**
   * Rows in hand: being leased, waiting for a slot, being attempted, or having their outcome
   * stored.
   */
  running = 0;
  readonly slots: Slots;
  /** Of the one next hop behind all destinations. */
  readonly reach: Reach | undefined;

  // deno-lint-ignore no-explicit-any -- the handler alone knows its payload
  constructor(readonly handler: OutgoingHandler<any>) {
    this.slots = new Slots(handler.concurrency);
    this.reach = handler.oneNextHop ? new Reach() : undefined;
  }
}

/**
 * Rows in hand for each slot: while some are attempted, others are leased or have their outcome
 * stored.
 */
const IN_HAND_A_SLOT = 2;

/**
 * Rows that one read of a search for destinations takes: many destinations have few rows, some have
 * many.
 */
const DISCOVERED = 20;

export class Lanes {
  readonly #kinds = new Map<string, LanesOfKind>();

  // deno-lint-ignore no-explicit-any -- the handler alone knows its payload
  register(handler: OutgoingHandler<any>): void {
    this.#kinds.set(handler.kind, new LanesOfKind(handler));
  }

  get kinds(): number {
    return this.#kinds.size;
  }

  // deno-lint-ignore no-explicit-any -- the handler alone knows its payload
  handlerOf(kind: string): OutgoingHandler<any> | undefined {
    return this.#kinds.get(kind)?.handler;
  }

  slotsOf({ kind }: Lane): Slots {
    return this.#kinds.get(kind)!.slots;
  }

  /**
   * Records that a row with this due time waits. Rows of a kind without a handler are left alone.
   */
  wake(kind: string, destination: string, dueMs: number): void {
    const lanes = this.#kinds.get(kind);
    if (lanes === undefined) return;
    let lane = lanes.byDestination.get(destination);
    if (lane === undefined) {
      lane = new Lane(kind, destination, lanes.reach);
      lanes.byDestination.set(destination, lane);
    }
    lane.wake(dueMs);
  }

  /** Lanes whose rows should be read now. Empty lanes are dropped. */
  *wanting(nowMs: number): Generator<Lane> {
    for (const { byDestination } of this.#kinds.values()) {
      for (const lane of byDestination.values()) {
        if (lane.wants(nowMs)) yield lane;
        else if (lane.isEmpty) byDestination.delete(lane.destination);
      }
    }
  }

  /** The lane has rows in memory from now on. */
  offer(lane: Lane): void {
    if (lane.ready.length > 0) this.#kinds.get(lane.kind)!.rotation.add(lane);
  }

  /** Gives a lane whose next row may be attempted now; kinds and destinations take turns. */
  takeTurn(nowMs: number): Lane | null {
    for (const { handler, rotation, running } of this.#kinds.values()) {
      if (running >= IN_HAND_A_SLOT * handler.concurrency) continue;
      for (const lane of rotation) {
        if (lane.running >= (handler.perDestination ?? Infinity) || !lane.reach.mayTry(nowMs)) {
          continue;
        }
        rotation.delete(lane);
        if (lane.ready.length > 1) rotation.add(lane);
        return lane;
      }
    }
    return null;
  }

  began(lane: Lane, nowMs: number): void {
    lane.running++;
    lane.reach.began(nowMs);
    this.#kinds.get(lane.kind)!.running++;
  }

  ended(lane: Lane): void {
    lane.running--;
    this.#kinds.get(lane.kind)!.running--;
  }

  /**
   * Finds the destinations that rows in the store wait for. Reads a few rows of each, however many
   * wait.
   */
  async discover(kv: Deno.Kv): Promise<void> {
    for (const kind of this.#kinds.keys()) {
      const prefix = [LANE_PREFIX, kind];
      let selector: Deno.KvListSelector = { prefix };
      for (;;) {
        const rows: Deno.KvEntry<unknown>[] = await listRows(kv, selector, { limit: DISCOVERED });
        for (const { key } of rows) this.wake(kind, key[2] as string, key[3] as number);
        if (rows.length < DISCOVERED) break;
        // A key after every number: the end of the last destination's rows.
        selector = { prefix, start: [...prefix, rows.at(-1)!.key[2]!, true] };
      }
    }
  }
}
