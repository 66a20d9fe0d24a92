/** Names in their order, of which some come and go all the time: short runs in one long one. */

/** Names of a run: it is cut in two above it. */
const MOST = 512;

export class SortedNames {
  /** No run is empty, but for the only one. */
  #runs: string[][] = [[]];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a name that is not among them. */
  add(name: string): void {
    const at = this.#runOf(name);
    const run = this.#runs[at]!;
    run.splice(firstFrom(run, name), 0, name);
    this.#size++;
    if (run.length > MOST) this.#runs.splice(at + 1, 0, run.splice(run.length >> 1));
  }

  delete(name: string): void {
    const at = this.#runOf(name);
    const run = this.#runs[at]!;
    const i = firstFrom(run, name);
    if (run[i] !== name) return;
    run.splice(i, 1);
    this.#size--;
    if (run.length === 0 && this.#runs.length > 1) this.#runs.splice(at, 1);
  }

  /** Those from a name on and below another, in their order or backwards. Nothing may change meanwhile. */
  *between(from: string, to: string, reverse = false): Generator<string> {
    if (reverse) {
      for (let at = this.#runOf(to); at >= 0; at--) {
        const run = this.#runs[at]!;
        for (let i = firstFrom(run, to) - 1; i >= 0; i--) {
          if (run[i]! < from) return;
          yield run[i]!;
        }
      }
      return;
    }
    for (let at = this.#runOf(from); at < this.#runs.length; at++) {
      const run = this.#runs[at]!;
      for (let i = firstFrom(run, from); i < run.length; i++) {
        if (run[i]! >= to) return;
        yield run[i]!;
      }
    }
  }

  /** The last run that begins at or below a name, or the first. */
  #runOf(name: string): number {
    let low = 0;
    let high = this.#runs.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#runs[middle]![0]! <= name) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** Where the first of them stands that is not below a name. */
function firstFrom(run: readonly string[], name: string): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run[middle]! < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
