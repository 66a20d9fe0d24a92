/**
 * The rests of bodies that were given up. If a connection is cut off while its client still writes,
 * the answer may be lost. The rest is therefore read and discarded for a while. Cutting it off then
 * closes the connection, at once or with the next byte that comes. The runtime by itself would wait
 * for the end of the body.
 */

export interface UnreadBody {
  read(): Promise<{ done: boolean }>;
  cancel(): Promise<void>;
}

/** A client that goes on writing is cut off after this time; one that stops, earlier. */
const PATIENCE_MS = 15_000;

interface Discarded {
  rest: UnreadBody;
  untilMs: number;
  /** Whether something came since the last look. */
  hasMoved: boolean;
}

export class BodyDrain {
  readonly #all = new Set<Discarded>();

  constructor(private readonly now: () => number) {}

  get size(): number {
    return this.#all.size;
  }

  /** Reads the rest until it ends or is cut off. */
  add(rest: UnreadBody): void {
    const discarded = { rest, untilMs: this.now() + PATIENCE_MS, hasMoved: false };
    this.#all.add(discarded);
    this.#read(discarded).finally(() => this.#all.delete(discarded));
  }

  /** Cuts off those that take too long, and those of which nothing came since the last call. */
  cutOff(nowMs: number): void {
    for (const discarded of this.#all) {
      if (discarded.hasMoved && nowMs < discarded.untilMs) discarded.hasMoved = false;
      else this.#end(discarded);
    }
  }

  cutOffAll(): void {
    for (const discarded of this.#all) this.#end(discarded);
  }

  #end(discarded: Discarded): void {
    this.#all.delete(discarded);
    discarded.rest.cancel().catch(() => {});
  }

  async #read(discarded: Discarded): Promise<void> {
    try {
      while (!(await discarded.rest.read()).done) discarded.hasMoved = true;
    } catch {
      // The client has left: there is no rest.
    }
  }
}
