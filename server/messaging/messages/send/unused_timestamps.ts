/**
 * Ed25519 is deterministic: one agent, one request and one second give one signature, which counts
 * once. For equal messages the relay therefore signs with the next second that it has not used.
 */
import { rateLimited } from "../../../base/errors.ts";
import { BoundedMap } from "../../../base/bounds/bounded_map.ts";

const REMEMBERED_REQUESTS = 10_000;

export class UnusedTimestamps {
  readonly #claimed = new BoundedMap<string, Set<number>>(REMEMBERED_REQUESTS);

  /** @param aheadSeconds how far ahead of the clock a signed time may lie */
  constructor(private readonly aheadSeconds: number) {}

  /**
   * Takes the smallest second from now on that this process has not taken for the request.
   * @param request names agent and request bytes
   * @throws RelayError `rate_limited` when all are taken
   */
  claim(request: string, nowSeconds: number): number {
    const claimed = this.#claimed.get(request) ?? new Set();
    for (const second of claimed) if (second < nowSeconds) claimed.delete(second);
    this.#claimed.set(request, claimed);
    for (let second = nowSeconds; second <= nowSeconds + this.aheadSeconds; second++) {
      if (claimed.has(second)) continue;
      claimed.add(second);
      return second;
    }
    throw rateLimited(
      `more than ${this.aheadSeconds} equal messages to one recipient in as many seconds: each needs a signed second of its own; wait retry_after_ms, then send again`,
      1000,
    );
  }

  /** Gives a second back whose signature was not used after all. */
  release(request: string, second: number): void {
    this.#claimed.get(request)?.delete(second);
  }
}
