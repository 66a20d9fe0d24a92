/** Work that is waited for no longer than a certain time. */

/**
 * True when the work is done in time, false when it still runs then; it goes on, and a failure
 * that comes later is ignored.
 * @throws what the work fails with in time
 */
export async function doneWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), limitMs);
  try {
    return await Promise.race([late, work.then(() => true)]);
  } finally {
    clearTimeout(timer);
  }
}
