const WHOLE = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** A count as people read it, such as 1,204. */
export function countText(count: number): string {
  return WHOLE.format(count);
}

/** A count where there is little room, such as 1.2M. */
export function compactCount(count: number): string {
  return count < 10_000 ? WHOLE.format(count) : COMPACT.format(count);
}
