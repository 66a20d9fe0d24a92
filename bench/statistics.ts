/** What many measurements are told by. */

/**
 * The value that a share of all values does not pass.
 * @param ascending values in ascending order, at least one
 * @param share from 0 to 1
 */
export function quantile(ascending: ArrayLike<number>, share: number): number {
  if (ascending.length === 0) throw new RangeError("there is no quantile of nothing");
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))]!;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function fourDigits(value: number): number {
  return Number(value.toPrecision(4));
}

/** The lowest and the highest of several values of one thing. */
export interface Spread {
  lowest: number;
  highest: number;
}

/** @returns undefined of fewer than two values, which have no spread */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length < 2) return undefined;
  return { lowest: Math.min(...values), highest: Math.max(...values) };
}
