/**
 * What is made when it is first asked for, and kept. Who asks while it is made waits for it; where making
 * it failed, the next who asks tries again.
 */
export function madeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () =>
    kept ??= make().catch((error) => {
      kept = undefined;
      throw error;
    });
}
