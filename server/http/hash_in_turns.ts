import { TurnClock } from "./turn_clock.ts";

/** Bytes between two looks at the clock: less than a tenth of a turn. */
const PIECE_BYTES = 64 * 1024;

/**
 * Feeds bytes to a hash or HMAC on this thread, in turns of the event loop. Another thread would be given
 * a copy first: making it holds this one for longer at one time, and 25 MiB more are to be collected.
 * @param hash of node:crypto
 * @param bytes not to be changed until the promise settles
 */
export async function hashInTurns<H extends { update(bytes: Uint8Array): unknown }>(
  hash: H,
  bytes: Uint8Array,
  clock: TurnClock = new TurnClock(),
): Promise<H> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (clock.isOver) await clock.next();
    hash.update(bytes.subarray(at, at + PIECE_BYTES));
  }
  return hash;
}
