/**
 * Work that lets others run: a generator that yields null wherever it may be put aside. A
 * worker runs it to its end; where there are no workers the main thread does so in slices.
 */
export type Sliced<T> = Generator<null, T>;

/** Runs work to its end at once, whatever it yields. */
export function toEnd<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
