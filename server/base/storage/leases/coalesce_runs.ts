/**
 * Lets callers of the same moment share one run of an operation. A caller that comes during a run
 * waits for the next one. Each caller therefore sees at least what was there at its call.
 * @param operation never runs twice at the same time
 */
export function coalesceRuns<T>(operation: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | null = null;
  let next: Promise<T> | null = null;

  async function start(): Promise<T> {
    await running?.catch(() => {});
    next = null;
    const run = operation();
    running = run;
    try {
      return await run;
    } finally {
      if (running === run) running = null;
    }
  }

  return () => next ??= start();
}
