/** When agents were last seen. */
const SAMPLE = 256;

export class LastSeen {
  /** Unix ms by agent id; 0 for never. It may end before an agent who was never seen. */
  seenMs = new Float64Array(4_096);

  /** A time after which some one in sixteen agents was seen, by a sample. */
  lateMs(): number {
    const step = this.seenMs.length / SAMPLE;
    return Float64Array.from({ length: SAMPLE }, (_, i) => this.seenMs[Math.floor(i * step)]!)
      .sort()[SAMPLE * 15 / 16]!;
  }

  /** Records when an agent was last seen; an earlier time than the one known changes nothing. */
  touch(agentId: number, seenMs: number): void {
    if (agentId >= this.seenMs.length) {
      const grown = new Float64Array(Math.max(agentId + 1, Math.ceil(1.5 * this.seenMs.length)));
      grown.set(this.seenMs);
      this.seenMs = grown;
    }
    if (seenMs > this.seenMs[agentId]!) this.seenMs[agentId] = seenMs;
  }
}
