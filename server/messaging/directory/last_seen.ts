/** When agents were last seen, by id. */
export class LastSeen {
  #seenMs = new Float64Array(4_096);

  /** Unix ms when the agent was last seen; 0 for never. */
  of(agentId: number): number {
    return this.#seenMs[agentId] ?? 0;
  }

  /** The times of so many agents, by their place after the first. */
  from(agentId: number, count: number): Float64Array {
    this.#reserve(agentId + count);
    return this.#seenMs.subarray(agentId, agentId + count);
  }

  /** Records when an agent was last seen; an earlier time than the one known changes nothing. */
  touch(agentId: number, seenMs: number): void {
    this.#reserve(agentId + 1);
    if (seenMs > this.#seenMs[agentId]!) this.#seenMs[agentId] = seenMs;
  }

  #reserve(count: number): void {
    if (count <= this.#seenMs.length) return;
    const grown = new Float64Array(Math.max(count, Math.ceil(1.5 * this.#seenMs.length)));
    grown.set(this.#seenMs);
    this.#seenMs = grown;
  }
}
