/**
 * The value that a share of all values does not pass.
 * @param ascending values in ascending order, at least one
 * @param share from 0 to 1
 */
export function quantile(ascending: ArrayLike<number>, share: number): number {
  if (ascending.length === 0) throw new RangeError("there is no quantile of nothing");
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))]!;
}
