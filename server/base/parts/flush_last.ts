/** Writing, at shutdown, what memory holds and the store does not yet. */

/** What is kept in memory for a while before it is written. */
export interface Flushed {
  /** Writes it. What fails stays in memory, and may be written again without harm. */
  flush(): Promise<void>;
}

/** No next minute makes up for a flush that the store failed. */
const TRIES = 3;

/** The last flush, tried three times. @throws what the last try threw */
export async function flushLast(held: Flushed): Promise<void> {
  for (let left = TRIES - 1;; left--) {
    try {
      return await held.flush();
    } catch (error) {
      if (left <= 0) throw error;
    }
  }
}
