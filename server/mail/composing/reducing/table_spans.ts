/** Cells of a table over several columns and rows, so that none lies over another (HTML, section 4.9.12). */

export interface TableSpans {
  section(): void;
  row(): void;
  /** Places the next cell. @returns how much of the asked-for span it may have */
  cell(columns: number, rows: number): { columns: number; rows: number };
}

/** Further to the right no cell spans anything. */
const MOST_COLUMNS = 100;
const MOST_ROWS = 1_000;

export function tableSpans(): TableSpans {
  /** For each column the first row that no cell from above reaches into. */
  let freeFrom: number[] = [];
  let row = 0;
  let column = 0;
  const isFree = (at: number) => (freeFrom[at] ?? 0) <= row;
  return {
    section() {
      freeFrom = [];
    },
    row() {
      row++;
      column = 0;
    },
    cell(columns, rows) {
      while (column < MOST_COLUMNS && !isFree(column)) column++;
      if (column >= MOST_COLUMNS) return { columns: 1, rows: 1 };
      let width = 1;
      const most = Math.min(columns, MOST_COLUMNS - column);
      while (width < most && isFree(column + width)) width++;
      const height = Math.max(1, Math.min(rows, MOST_ROWS));
      for (let i = 0; i < width; i++) freeFrom[column + i] = row + height;
      column += width;
      return { columns: width, rows: height };
    },
  };
}
