/**
 * The relaxed form of a body (RFC 6376, 3.4.4), in one pass and one copy. What is relaxed stays as it
 * is when it is relaxed again: given it, the library makes no buffer for each line. Pure.
 *
 * @param body with CRLF alone at the ends of lines
 */
export function relaxedBody(body: Uint8Array): Uint8Array {
  const relaxed = new Uint8Array(body.length + 2);
  let end = 0;
  /** Where what is not an empty line ends. */
  let filled = 0;
  let hasSpace = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (byte === SPACE || byte === TAB) hasSpace = true;
    else if (byte === CR && body[i + 1] === LF) {
      hasSpace = false;
      relaxed[end++] = CR;
      relaxed[end++] = LF;
      i++;
    } else {
      if (hasSpace) relaxed[end++] = SPACE;
      hasSpace = false;
      relaxed[end++] = byte;
      filled = end;
    }
  }
  if (filled === 0) return relaxed.subarray(0, 0);
  relaxed[filled] = CR;
  relaxed[filled + 1] = LF;
  return relaxed.subarray(0, filled + 2);
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
