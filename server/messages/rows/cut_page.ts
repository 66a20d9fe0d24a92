/** Where a page ends by its bytes (decisions, "Bounds added"). Pure. */

/** How many bytes a page may have, and how they are counted. */
export interface PageBudget<Row> {
  /** Bytes of all rows as answered. */
  maxBytes: number;
  /** Bytes of one row as answered. */
  sizeOf(row: Row): number;
  /** Rows that are given whatever their size: 1, or 0 where the page has some already. */
  atLeast: 0 | 1;
}

export interface Cut<Row> {
  rows: Row[];
  sizeBytes: number;
  /** Whether a row was left out for its bytes. */
  isCut: boolean;
}

/** The first rows that fit, up to the one with which they would pass the budget. */
export function cutPage<Row>(
  rows: Iterable<Row>,
  { maxBytes, sizeOf, atLeast }: PageBudget<Row>,
): Cut<Row> {
  const kept: Row[] = [];
  let sizeBytes = 0;
  for (const row of rows) {
    const rowBytes = sizeOf(row);
    if (sizeBytes + rowBytes > maxBytes && kept.length >= atLeast) {
      return { rows: kept, sizeBytes, isCut: true };
    }
    kept.push(row);
    sizeBytes += rowBytes;
  }
  return { rows: kept, sizeBytes, isCut: false };
}
