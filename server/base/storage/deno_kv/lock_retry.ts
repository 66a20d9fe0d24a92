/** Retries what SQLite refuses only for the moment. */

const ATTEMPTS = 40;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;

/**
 * Whether an error is SQLite's "database is locked": another process is writing, and nothing was
 * applied.
 */
export function isDatabaseLocked(error: unknown): boolean {
  return error instanceof Error && /database (table |file )?is (locked|busy)/i.test(error.message);
}

/**
 * Runs an operation again, after a jittered pause, while the database is locked by another process.
 * @throws whatever the operation throws otherwise, or the last lock error after 40 attempts
 */
export async function retryWhileLocked<T>(operation: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if (attempt >= ATTEMPTS || !isDatabaseLocked(error)) throw error;
      const boundMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * boundMs));
    }
  }
}
