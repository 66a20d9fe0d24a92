import { flushFolder } from "../files/flush_folder.ts";

interface Flush {
  underWay: Promise<void>;
  /** Of those who came while this one was under way. */
  next: Promise<void> | null;
}

/** Makes names in folders durable; writers of one folder who come together share a flush. */
export class FolderFlushes {
  readonly #flushes = new Map<string, Flush>();

  constructor(private readonly flushNow: (path: string) => Promise<void> = flushFolder) {}

  /** @returns when all that stood in the folder at the time of the call is durable */
  flush(path: string): Promise<void> {
    const flush = this.#flushes.get(path);
    if (flush === undefined) return this.#begin(path);
    // One that is under way may have looked before this call: the next one counts.
    const begin = () => this.#begin(path);
    return flush.next ??= flush.underWay.then(begin, begin);
  }

  #begin(path: string): Promise<void> {
    const underWay = this.flushNow(path).finally(() => {
      if (flush.next === null) this.#flushes.delete(path);
    });
    const flush: Flush = { underWay, next: null };
    this.#flushes.set(path, flush);
    return underWay;
  }
}
