/** Where in a text an error stands. */
export interface JsonPosition {
  /** Bytes before it, in the UTF-8 form of the text. */
  readonly offset: number;
  /** Line, from 1; lines end with a line feed. */
  readonly line: number;
  /** Column, from 1, in code points. */
  readonly column: number;
}

/** The position of an index (UTF-16 code units) in a text. */
export function jsonPosition(text: string, index: number): JsonPosition {
  const before = text.slice(0, index);
  const lastLine = before.slice(before.lastIndexOf("\n") + 1);
  return {
    offset: new TextEncoder().encode(before).length,
    line: before.split("\n").length,
    column: [...lastLine].length + 1,
  };
}

/** The position in words, for an error message. */
export function describePosition({ offset, line, column }: JsonPosition): string {
  return `line ${line}, column ${column}, byte ${offset}`;
}
