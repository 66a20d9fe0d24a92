import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/**
 * Remembers under which timestamps requests were signed: the same request at the same second has
 * the same signature, and the relay counts it once.
 *
 * Processes that sign with one key share one of these, or equal sends of theirs in one second are
 * one message.
 */
export interface UsedTimestamps {
  /**
   * Takes the smallest timestamp from now on that this request was not signed at.
   *
   * @param request what would be signed, without the timestamp: {@linkcode requestIdentity}
   * @param nowSeconds Unix time in whole seconds
   */
  claim(request: string, nowSeconds: number): number | Promise<number>;
}

/** What tells a request from others, whenever it is signed. */
export function requestIdentity(
  address: string,
  { method, path, body }: { method: string; path: string; body: Uint8Array },
): string {
  return `${address} ${method} ${path} ${bytesToHex(sha256(body))}`;
}

/** The timestamps at which each request was signed. */
export type UsedByRequest = Map<string, number[]>;

/** A relay refuses older ones anyway; twice its 300 s bears a clock that was set back. */
const FORGET_AFTER_SECONDS = 600;

/**
 * Takes a timestamp and forgets those that no relay accepts any more.
 *
 * @param used what was taken before; changed in place
 * @returns the smallest timestamp from `nowSeconds` on that is not in `used` for this request
 */
export function claimTimestamp(used: UsedByRequest, request: string, nowSeconds: number): number {
  for (const [name, timestamps] of used) {
    const kept = timestamps.filter((one) => one >= nowSeconds - FORGET_AFTER_SECONDS);
    if (kept.length === 0) used.delete(name);
    else if (kept.length < timestamps.length) used.set(name, kept);
  }
  const taken = used.get(request) ?? [];
  let timestamp = nowSeconds;
  while (taken.includes(timestamp)) timestamp++;
  used.set(request, [...taken, timestamp]);
  return timestamp;
}

/** Remembers in memory: enough where one process alone signs with the key. */
export function createUsedTimestamps(): UsedTimestamps {
  const used: UsedByRequest = new Map();
  return { claim: (request, nowSeconds) => claimTimestamp(used, request, nowSeconds) };
}
