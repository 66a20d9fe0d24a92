/** How much room keys and values take in the store, as upper bounds that need no serialisation. */

/** Upper bound of what encloses the key and value of a change in a row of the journal. */
export const ENCLOSING_BYTES = 64;

/** Bytes of a key: each part and what encloses it. */
export function keySizeBytes(key: Deno.KvKey): number {
  let sizeBytes = 0;
  for (const part of key) {
    if (typeof part === "string") sizeBytes += part.length * 3 + 2;
    else if (part instanceof Uint8Array) sizeBytes += part.length * 2 + 2;
    else sizeBytes += 11;
  }
  return sizeBytes;
}

/** Bytes of a value: plain data, as the structured clone that the store keeps. */
export function valueSizeBytes(value: unknown): number {
  switch (typeof value) {
    case "string":
      return 2 * value.length + 8;
    case "number":
      return 12;
    case "bigint":
      return 24;
    case "object":
      break;
    default:
      return 4;
  }
  if (value === null) return 4;
  if (value instanceof Uint8Array) return value.byteLength + 24;
  if (Array.isArray(value)) {
    let sizeBytes = 24;
    for (const item of value) sizeBytes += typeof item === "number" ? 10 : valueSizeBytes(item);
    return sizeBytes;
  }
  let sizeBytes = 16;
  for (const name in value) {
    sizeBytes += 2 * name.length + 8 + valueSizeBytes((value as Record<string, unknown>)[name]);
  }
  return sizeBytes;
}
