/**
 * Agents by when they were last seen, newest first, and by descending id among equals. It is a
 * linked list, because almost every change moves an agent to its front.
 */

const NONE = 0;
/**
 * Steps from the front that one change may take; beyond that, the list is sorted again at the next
 * read.
 */
const MAX_STEPS = 256;
const DIGITS = 2_048;
/** Agents that sort() links before others have the thread. */
const LINKS_A_SLICE = 200_000;

export class Recency {
  #seen = new Float64Array(1_024);
  #next = new Int32Array(1_024);
  #previous = new Int32Array(1_024);
  #sorted = true;
  /** While sort() works: who was seen meanwhile, and whether they stand in what it sorts. */
  #late: Map<number, boolean> | null = null;

  /** Unix ms when the agent was last seen; 0 for never. */
  seenMs(agentId: number): number {
    return this.#seen[agentId] ?? 0;
  }

  /** Records when an agent was last seen; an earlier time than the one known changes nothing. */
  touch(agentId: number, seenMs: number): void {
    if (agentId >= this.#seen.length) this.#grow(agentId + 1);
    if (seenMs <= this.#seen[agentId]!) return;
    const known = this.#seen[agentId]! > 0;
    this.#seen[agentId] = seenMs;
    if (this.#late?.has(agentId) === false) this.#late.set(agentId, known);
    if (!this.#sorted) return;
    if (known) this.#unlink(agentId);
    this.#insert(agentId);
  }

  /** Puts an agent to its place, from the front on. */
  #insert(agentId: number): void {
    let before = NONE;
    let after = this.#next[NONE]!;
    for (let steps = 0; after !== NONE && this.#standsBefore(after, agentId); steps++) {
      if (steps === MAX_STEPS) {
        this.#sorted = false;
        return;
      }
      before = after;
      after = this.#next[after]!;
    }
    this.#link(before, agentId, after);
  }

  /**
   * Sorts what has to be sorted as a whole, so that walk() need not: some milliseconds at a time, while
   * agents may be seen. One call at a time.
   * @param pause lets others use the thread
   */
  async sort(pause: () => Promise<void>): Promise<void> {
    if (this.#sorted) return;
    const late = this.#late = new Map<number, boolean>();
    try {
      const passes = descendingByTime(this.#seenDescending(), this.#seen);
      let pass = passes.next();
      for (; !pass.done; pass = passes.next()) {
        await pause();
        if (this.#sorted) return; // a walk could not wait
      }
      const order = pass.value;
      // Nobody reads the list before all of it is linked.
      this.#unlinkAll();
      for (let i = 0, last = NONE; i < order.length; i++) {
        this.#link(last, order[i]!, NONE);
        last = order[i]!;
        if (i % LINKS_A_SLICE < LINKS_A_SLICE - 1) continue;
        await pause();
        if (this.#sorted) return;
      }
    } finally {
      this.#late = null;
    }
    this.#sorted = true;
    for (const [agentId, isLinked] of late) if (isLinked) this.#unlink(agentId);
    for (const agentId of late.keys()) {
      if (this.#sorted) this.#insert(agentId);
    }
  }

  /** All agents that were ever seen, in order. No touch() while it is walked. */
  *walk(): Generator<number> {
    if (!this.#sorted) this.#sort();
    for (let agentId = this.#next[NONE]!; agentId !== NONE; agentId = this.#next[agentId]!) {
      yield agentId;
    }
  }

  /** Below zero when `a` stands before `b`: agents that were never seen come last. */
  compare(a: number, b: number): number {
    return this.seenMs(b) - this.seenMs(a) || b - a;
  }

  #standsBefore(a: number, b: number): boolean {
    return this.#seen[a]! > this.#seen[b]! || this.#seen[a] === this.#seen[b] && a > b;
  }

  #unlink(agentId: number): void {
    const before = this.#previous[agentId]!;
    const after = this.#next[agentId]!;
    this.#next[before] = after;
    this.#previous[after] = before;
  }

  #link(before: number, agentId: number, after: number): void {
    this.#next[before] = agentId;
    this.#previous[agentId] = before;
    this.#next[agentId] = after;
    this.#previous[after] = agentId;
  }

  #sort(): void {
    const passes = descendingByTime(this.#seenDescending(), this.#seen);
    let pass = passes.next();
    while (!pass.done) pass = passes.next();
    const order = pass.value;
    this.#unlinkAll();
    let before = NONE;
    for (let i = 0; i < order.length; i++) {
      this.#link(before, order[i]!, NONE);
      before = order[i]!;
    }
    this.#sorted = true;
  }

  #unlinkAll(): void {
    this.#next[NONE] = this.#previous[NONE] = NONE;
  }

  #seenDescending(): Int32Array<ArrayBuffer> {
    let count = 0;
    for (const seenMs of this.#seen) if (seenMs > 0) count++;
    const agentIds = new Int32Array(count);
    for (let agentId = this.#seen.length - 1, at = 0; agentId > 0; agentId--) {
      if (this.#seen[agentId]! > 0) agentIds[at++] = agentId;
    }
    return agentIds;
  }

  #grow(atLeast: number): void {
    const capacity = Math.max(atLeast, Math.ceil(this.#seen.length * 1.5));
    const seen = new Float64Array(capacity);
    const next = new Int32Array(capacity);
    const previous = new Int32Array(capacity);
    seen.set(this.#seen);
    next.set(this.#next);
    previous.set(this.#previous);
    this.#seen = seen;
    this.#next = next;
    this.#previous = previous;
  }
}

/**
 * Sorts by digits, from the lowest on: a million agents in a tenth of the time that comparing them
 * takes. Agents of equal times keep their order. Between its passes others may use the thread, and
 * change `seen`.
 */
function* descendingByTime(
  agentIds: Int32Array<ArrayBuffer>,
  seen: Float64Array,
): Generator<void, Int32Array> {
  const count = agentIds.length;
  let order = agentIds;
  let ages = new Float64Array(count);
  let newestMs = 0;
  for (let i = 0; i < count; i++) newestMs = Math.max(newestMs, seen[order[i]!]!);
  let oldest = 0;
  for (let i = 0; i < count; i++) {
    ages[i] = newestMs - seen[order[i]!]!;
    oldest = Math.max(oldest, ages[i]!);
  }
  let sorted = new Int32Array(count);
  let sortedAges = new Float64Array(count);
  const starts = new Uint32Array(DIGITS + 1);
  for (let unit = 1; unit <= oldest; unit *= DIGITS) {
    yield;
    starts.fill(0);
    for (let i = 0; i < count; i++) starts[Math.floor(ages[i]! / unit) % DIGITS + 1]!++;
    for (let digit = 0; digit < DIGITS; digit++) starts[digit + 1]! += starts[digit]!;
    yield;
    for (let i = 0; i < count; i++) {
      const at = starts[Math.floor(ages[i]! / unit) % DIGITS]!++;
      sorted[at] = order[i]!;
      sortedAges[at] = ages[i]!;
    }
    [order, sorted, ages, sortedAges] = [sorted, order, sortedAges, ages];
  }
  return order;
}
