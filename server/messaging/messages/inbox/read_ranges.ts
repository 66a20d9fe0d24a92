/**
 * Which messages of an inbox have been delivered, as ranges of ids. An agent that follows its
 * cursor has one range, and a send writes nothing here. Pure.
 *
 * The ranges are a flat list of pairs [first, last], ascending, disjoint and not adjacent. A
 * message has been delivered exactly when its id is in a range.
 */

export type ReadRanges = readonly number[];

/** Index of the first pair whose last id is not below `id`. */
function pairAt(ranges: ReadRanges, id: number): number {
  let low = 0;
  let high = ranges.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[2 * middle + 1]! < id) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}

/** Whether a message was delivered. */
export function isRead(ranges: ReadRanges, id: number): boolean {
  const at = pairAt(ranges, id);
  return at < ranges.length && ranges[at]! <= id;
}

/** The ranges with first..last delivered too. */
export function addRange(ranges: ReadRanges, first: number, last: number): number[] {
  if (last < first) return [...ranges];
  const from = pairAt(ranges, first - 1);
  let to = from;
  let low = first;
  let high = last;
  for (; to < ranges.length && ranges[to]! <= last + 1; to += 2) {
    low = Math.min(low, ranges[to]!);
    high = Math.max(high, ranges[to + 1]!);
  }
  return [...ranges.slice(0, from), low, high, ...ranges.slice(to)];
}

/** The stretches of undelivered ids from `first` on: pairs [first, last], the last one open. */
export function* unreadGaps(ranges: ReadRanges, first: number): Generator<[number, number]> {
  let from = first;
  for (let at = pairAt(ranges, first); at < ranges.length; at += 2) {
    if (ranges[at]! > from) yield [from, ranges[at]! - 1];
    from = Math.max(from, ranges[at + 1]! + 1);
  }
  yield [from, Number.MAX_SAFE_INTEGER];
}
