import { SliceClock } from "./slice_clock.ts";

/** Bytes between two looks at the clock: less than a tenth of a slice. */
const PIECE_BYTES = 64 * 1024;

/**
 * Feeds bytes to a hash or HMAC on this thread, in slices; the event loop goes on between them. Another
 * thread would need a copy first: making it blocks this one for longer, and leaves 25 MiB more to collect.
 * @param hash of node:crypto
 * @param bytes not to be changed until the promise settles
 */
export async function hashInSlices<H extends { update(bytes: Uint8Array): unknown }>(
  hash: H,
  bytes: Uint8Array,
  clock: SliceClock = new SliceClock(),
): Promise<H> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (clock.isOver) await clock.next();
    hash.update(bytes.subarray(at, at + PIECE_BYTES));
  }
  return hash;
}
