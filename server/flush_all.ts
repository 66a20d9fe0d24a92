/** Writing what memory holds and the store does not yet. */

/** A part that keeps something in memory for a while before it writes it. */
export interface Flushed {
  /** Writes it. What fails stays in memory, and may be written again without harm. */
  flush(): Promise<void>;
}

/**
 * Has every part write what it holds, whatever becomes of the others.
 * @param tries how often a part is asked that fails: more than once where no later flush follows
 * @throws what the first part that failed threw last, after all have ended
 */
export async function flushAll(parts: readonly Flushed[], tries = 1): Promise<void> {
  const ends = await Promise.allSettled(parts.map((part) => flushOne(part, tries)));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function flushOne(part: Flushed, tries: number): Promise<void> {
  for (let left = tries - 1;; left--) {
    try {
      return await part.flush();
    } catch (error) {
      if (left <= 0) throw error;
    }
  }
}
