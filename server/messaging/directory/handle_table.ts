/**
 * Agent ids by handle, in 16 bytes an agent: an open-addressed table of hashes. Handles belong to
 * one agent for good, so that nothing is removed from it; the caller checks what it finds.
 */
const FIRST_SLOTS = 2_048;
/** Words of a slot: the hash, and the agent id, 0 for an empty one. */
const SLOT = 2;

export class HandleTable {
  #slots = new Uint32Array(SLOT * FIRST_SLOTS);
  #used = 0;

  constructor(private readonly seed: number = crypto.getRandomValues(new Uint32Array(1))[0]!) {}

  /** Makes room for so many agents. */
  reserve(agents: number): void {
    let slots = this.#slots.length / SLOT;
    while (slots < 2 * agents) slots *= 2;
    if (slots * SLOT > this.#slots.length) this.#grow(slots);
  }

  /** Adds an agent under its handle; a second time it changes nothing. */
  add(handle: string, agentId: number): void {
    if (2 * this.#used >= this.#slots.length / SLOT) this.reserve(2 * this.#used);
    if (put(this.#slots, this.#hash(handle), agentId)) this.#used++;
  }

  /** The agent under a handle for which `isIt` holds, or undefined. */
  find(handle: string, isIt: (agentId: number) => boolean): number | undefined {
    const slots = this.#slots;
    const hash = this.#hash(handle);
    const mask = slots.length / SLOT - 1;
    for (let slot = hash & mask; slots[SLOT * slot + 1] !== 0; slot = (slot + 1) & mask) {
      const agentId = slots[SLOT * slot + 1]!;
      if (slots[SLOT * slot] === hash && isIt(agentId)) return agentId;
    }
    return undefined;
  }

  #grow(count: number): void {
    const former = this.#slots;
    this.#slots = new Uint32Array(SLOT * count);
    for (let at = 0; at < former.length; at += SLOT) {
      if (former[at + 1] !== 0) put(this.#slots, former[at]!, former[at + 1]!);
    }
  }

  /** Places that nobody who registers handles can choose. */
  #hash(handle: string): number {
    let hash = this.seed;
    for (let i = 0; i < handle.length; i++) {
      hash = Math.imul(hash ^ handle.charCodeAt(i), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash ^ hash >>> 13, 0x85ebca6b);
    return (hash ^ hash >>> 16) >>> 0;
  }
}

/** @returns false when the agent stood there already */
function put(slots: Uint32Array, hash: number, agentId: number): boolean {
  const mask = slots.length / SLOT - 1;
  let slot = hash & mask;
  for (; slots[SLOT * slot + 1] !== 0; slot = (slot + 1) & mask) {
    if (slots[SLOT * slot + 1] === agentId) return false;
  }
  slots[SLOT * slot] = hash;
  slots[SLOT * slot + 1] = agentId;
  return true;
}
