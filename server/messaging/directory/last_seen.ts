/** When agents were last seen, and who of them lately: some one in 16 to one in 8. */
const SAMPLE = 256;

export class LastSeen {
  /** Unix ms by agent id; 0 for never. It may end before an agent who was never seen. */
  seenMs = new Float64Array(4_096);
  #late = new Int32Array(4_096 / 32);
  /** Agents seen after this are in `#late`. */
  #lateMs = -1;

  /** Records when an agent was last seen; an earlier time than the one known changes nothing. */
  touch(agentId: number, seenMs: number): void {
    if (agentId >= this.seenMs.length) this.#grow(agentId + 1);
    if (seenMs <= this.seenMs[agentId]!) return;
    this.seenMs[agentId] = seenMs;
    if (seenMs > this.#lateMs) this.#late[agentId >>> 5]! |= 1 << (agentId & 31);
  }

  /** All who were seen after some time, by a bit each, 32 agents in a word. */
  late(): Int32Array {
    const step = this.seenMs.length / SAMPLE;
    const sample = Float64Array.from({ length: SAMPLE }, (_, i) => this.seenMs[i * step | 0]!)
      .sort();
    if (sample[SAMPLE * 7 / 8]! > this.#lateMs) {
      this.#lateMs = sample[SAMPLE * 15 / 16]!;
      this.#late = new Int32Array(this.#late.length); // searches under way keep the former one
      for (let word = 0; word < this.#late.length; word++) {
        let bits = 0;
        for (let bit = 0; bit < 32; bit++) {
          if (this.seenMs[word * 32 + bit]! > this.#lateMs) bits |= 1 << bit;
        }
        this.#late[word] = bits;
      }
    }
    return this.#late;
  }

  #grow(atLeast: number): void {
    const words = Math.ceil(Math.max(atLeast, 1.5 * this.seenMs.length) / 32);
    const seenMs = new Float64Array(32 * words);
    const late = new Int32Array(words);
    seenMs.set(this.seenMs);
    late.set(this.#late);
    this.seenMs = seenMs;
    this.#late = late;
  }
}
