/** Time as the client knows it; a test moves its own. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /**
   * Calls back once.
   *
   * @param delayMs at most {@linkcode MAX_TIMER_MS}
   * @returns takes the call back
   */
  after(delayMs: number, callback: () => void): () => void;
}

/** The longest delay that a timer of the platform keeps; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The platform's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * Waits, however long: a wait of more than {@linkcode MAX_TIMER_MS} is made of several.
 *
 * @param delayMs milliseconds; nothing is waited for 0 and less
 * @throws the reason of the signal when it aborts
 */
export async function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  for (let leftMs = delayMs; leftMs > 0; leftMs -= MAX_TIMER_MS) {
    await waitOnce(clock, Math.min(leftMs, MAX_TIMER_MS), signal);
  }
}

function waitOnce(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.after(delayMs, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    function abort() {
      cancel();
      reject(signal!.reason);
    }
    signal?.addEventListener("abort", abort, { once: true });
  });
}
