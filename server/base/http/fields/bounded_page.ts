/** Where a page ends: by its rows, and by their bytes (docs/api.md, "Limits"). Pure. */

/** How much a page may hold, and how its bytes are counted. */
export interface PageBounds<Row> {
  /** Rows; any number unless given. */
  limit?: number;
  /** Bytes of all rows as answered. */
  maxBytes: number;
  /** Bytes of one row as answered. */
  sizeOf(row: Row): number;
  /** Rows that are given whatever their bytes: 1 unless given, 0 where they follow others. */
  atLeast?: 0 | 1;
}

/** A page that takes rows in order, until one is left out. */
export class BoundedPage<Row> {
  readonly rows: Row[] = [];
  sizeBytes = 0;
  /** Whether a row was left out for its bytes. */
  isCut = false;
  /** Whether a row was left out, for its bytes or for the limit of rows. */
  hasMore = false;

  constructor(private readonly bounds: PageBounds<Row>) {}

  /** Whether the page takes no further row. */
  get isFull(): boolean {
    return this.hasMore || this.rows.length >= (this.bounds.limit ?? Infinity);
  }

  /** Bounds on what may still follow. */
  get left(): PageBounds<Row> {
    const { limit = Infinity, maxBytes, sizeOf, atLeast = 1 } = this.bounds;
    return {
      limit: limit - this.rows.length,
      maxBytes: maxBytes - this.sizeBytes,
      sizeOf,
      atLeast: this.rows.length > 0 ? 0 : atLeast,
    };
  }

  /** Takes rows up to the one that no longer fits; a smaller one behind it is no part of the page. */
  add(rows: Iterable<Row>): this {
    const { limit = Infinity, maxBytes, sizeOf, atLeast = 1 } = this.bounds;
    for (const row of rows) {
      if (this.hasMore) break;
      if (this.rows.length >= limit) {
        this.hasMore = true;
        break;
      }
      const rowBytes = sizeOf(row);
      if (this.sizeBytes + rowBytes > maxBytes && this.rows.length >= atLeast) {
        this.cut();
        break;
      }
      this.rows.push(row);
      this.sizeBytes += rowBytes;
    }
    return this;
  }

  /** Ends the page: the reader of the rows has left one out for its bytes. */
  cut(): void {
    this.isCut = this.hasMore = true;
  }
}
