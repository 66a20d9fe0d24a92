import { doneWithin } from "../../time/done_within.ts";

/** The store did not answer in time when it was opened. */
export class StoreSilent extends Error {
  constructor(waitedMs: number) {
    super(
      `the store did not answer within ${waitedMs / 1000} s; of a shared file another process ` +
        "may hold the write lock (a frozen relay, a backup), a KV server may be out of reach",
    );
  }
}

const WAIT_MS = 15_000;

/**
 * The result of the first operation on the store, or an error when it does not answer in time.
 * @throws StoreSilent
 */
export async function requireAnswer<T>(work: Promise<T>, waitMs = WAIT_MS): Promise<T> {
  if (!await doneWithin(work, waitMs)) throw new StoreSilent(waitMs);
  return await work;
}
