/** Bytes copied in one turn of the event loop. */
const COPIED_BYTES = 2 * 1024 * 1024;

/** A copy of bytes, large ones made in turns: memory that is new takes time to be had. */
export async function copyInTurns(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += COPIED_BYTES) {
    if (at > 0) await new Promise((resolve) => setTimeout(resolve));
    copy.set(bytes.subarray(at, at + COPIED_BYTES), at);
  }
  return copy;
}
