/**
 * Callers of the same moment share one run of an operation. Who comes while one is under way waits
 * for the next, so that everybody sees at least what was there when they asked.
 * @param operation what is run; never twice at one time
 */
export function shareRuns<T>(operation: () => Promise<T>): () => Promise<T> {
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
