/** Reading messages of several rows while purges may take them. */

/** A purge takes some messages a step: pages of it may meet several. */
const READ_ATTEMPTS = 5;

/** A message whose rows were not all there: damaged, or purged between two reads. */
class PieceMissing extends Error {
  constructor() {
    super("a piece of a retained message is missing");
  }
}

/** Values that belong to one message. @throws PieceMissing for one that is not there */
export function present<T>(values: (T | null)[]): T[] {
  if (values.includes(null)) throw new PieceMissing();
  return values as T[];
}

/** Reads again where a purge came between the reads of one message: its rows go in one commit. */
export async function readWhole<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof PieceMissing) || attempt === READ_ATTEMPTS) throw error;
    }
  }
}
